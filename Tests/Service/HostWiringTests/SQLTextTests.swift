import Foundation
import TestPostgres
import Testing

@testable import HostWiring

@Suite("Names and texts in SQL")
struct SQLTextTests {
  private static let names = [
    "plain", "two words", "we\"ird", "\"", "Upper", "from", "user", "9lives", "_x9", "a\nb", "x; drop table y; --",
    "naïve",
    "a\\b", "a'b", "$$", "$body1$", "select", "Order", "semi;colon", "tab\t", "é", "", "\\", "''", "it's \\ here",
  ]

  @Test("read as the same names and texts again")
  func quoted() async throws {
    let server = try await TestPostgres.shared
    for name in Self.names {
      let literal = name.quotedLiteral
      #expect(try await server.psql("select \(literal)").dropLast() == name)
      let bytes = try await server.psql("select encode(convert_to($q$\(name)$q$, 'UTF8'), 'hex')")
      #expect(try await server.psql("select encode(convert_to(\(literal), 'UTF8'), 'hex')") == bytes)
      guard !name.isEmpty else { continue }
      let column =
        "select encode(convert_to(max(key), 'UTF8'), 'hex') from json_object_keys((select row_to_json(t) from (select 1 as"
      #expect(try await server.psql("\(column) \(name.quotedIdentifier)) t)) key") == bytes, "\(name)")
    }
  }

  @Test("a body is quoted by a word that it does not have")
  func dollars() {
    #expect("select 1".dollarQuoted == "$$\nselect 1\n$$")
    #expect("a$$b".dollarQuoted == "$body1$\na$$b\n$body1$")
    #expect("a$$b$body1$".dollarQuoted == "$body2$\na$$b$body1$\n$body2$")
  }

  @Test("a comment stays on its line")
  func oneLine() {
    #expect("a\nb\r\nc\u{7f}d".onOneLine == "a b  c d")
  }

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
