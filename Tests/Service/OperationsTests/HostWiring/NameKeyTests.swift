import Testing

@testable import Operations

@Suite("Names of tables and columns")
struct NameKeyTests {
  @Test("names are read in any habit of writing")
  func keys() {
    for name in ["ChannelMembers", "channel_members", "channelmember", "channel-member"] {
      #expect(NameKey(name).text == "channelmember")
    }
    let singulars = [
      "people": "person", "statuses": "status", "replies": "reply", "boxes": "box", "users": "user", "status": "status",
      "address": "address",
    ]
    for (plural, singular) in singulars { #expect(NameKey(plural).text == singular) }
    for name in ["userid", "user_id", "UserId", "user", "user_uuid"] { #expect(NameKey(column: name).text == "user") }
    #expect(NameKey(column: "id").text == "id")
    #expect(NameKey.words(of: "zerver_userMessages2 Old") == ["zerver", "user", "messages2", "old"])
    #expect(NameKey("zerver_message").weight(among: HostWords.messages) == 9)
    #expect(NameKey("invoices").weight(among: HostWords.messages) == 0)
    #expect(NameKey(column: "chat_channel_id").rank(among: ["thread", "channel"]) == 3)
  }
}
