import Foundation
import Testing

@testable import PushRules

@Suite("Ids of the host")
struct HostIDTests {
  private static let uuid = "0b6f9a52-53c4-4d3c-9d0c-5f2c4f3b8f11"

  @Test(
    "what a client writes is read by the type of the ids",
    arguments: [
      (.uuid, uuid, uuid), (.uuid, uuid.uppercased(), uuid), (.uuid, String(uuid.dropLast()), nil),
      (.uuid, uuid + "0", nil), (.uuid, "473", nil), (.uuid, "", nil),
      (.bigint, "473", "473"), (.bigint, "0", "0"), (.bigint, "-1", "-1"), (.bigint, "007", nil), (.bigint, "-0", nil),
      (.bigint, "+5", nil), (.bigint, " 5", nil), (.bigint, "9223372036854775807", "9223372036854775807"),
      (.bigint, "9223372036854775808", nil), (.bigint, "-9223372036854775808", "-9223372036854775808"),
      (.bigint, "-9223372036854775809", nil), (.bigint, uuid, nil), (.bigint, "", nil),
      (.text, "user_2x", "user_2x"), (.text, "Ünïcode 💬", "Ünïcode 💬"), (.text, uuid.uppercased(), uuid.uppercased()),
      (.text, String(repeating: "a", count: 255), String(repeating: "a", count: 255)),
      (.text, String(repeating: "a", count: 256), nil), (.text, String(repeating: "ü", count: 128), nil),
      (.text, "a\nb", nil), (.text, "a\u{7F}", nil), (.text, "a\u{0}", nil), (.text, "", nil),
    ] as [(IDTypes.IDType, String, String?)])
  func read(_ type: IDTypes.IDType, _ text: String, _ expected: String?) {
    #expect(type.id(text)?.text == expected)
  }

  @Test("ids are equal when their texts are, whether they were bytes or text")
  func equality() throws {
    let id = try #require(UUID(uuidString: Self.uuid))
    #expect(HostID(id) == HostID(text: Self.uuid))
    #expect(HostID(id).hashValue == HostID(text: Self.uuid).hashValue)
    #expect(HostID(text: Self.uuid.uppercased()) != HostID(id))
    #expect(HostID(text: Self.uuid.uppercased()).uuid == nil)
  }

  @Test(
    "JSON has them as strings, and integers as numbers too",
    arguments: [("473", "473"), ("\"473\"", "473"), ("\"x\"", "x"), ("1.5", nil), ("true", nil), ("null", nil)])
  func json(_ document: String, _ expected: String?) {
    let ids = try? JSONDecoder().decode([HostID].self, from: Data("[\(document)]".utf8))
    #expect(ids?.first?.text == expected)
  }

  @Test("subjects are uuids where all ids are, and otherwise text")
  func subjects() {
    #expect(IDTypes().subjects == .uuid)
    #expect(IDTypes(users: .text).subjects == .text)
    #expect(IDTypes(messages: .bigint).subjects == .text)
    #expect(IDTypes(conversations: .bigint).subjects == .text)
  }

  @Test("the ledger's id tells every event and recipient apart, also where their texts join to one")
  func ledger() {
    let ids = [("a", "bc"), ("ab", "c"), ("abc", ""), ("1", "23"), ("12", "3")].map { subject, user in
      PushSubject.message(HostID(text: subject)).logID(of: HostID(text: user), enqueuedAt: 1_700_000_000_000_000)
    }
    #expect(Set(ids).count == ids.count)
  }

  @Test("an id that APNs would not take as a collapse identifier is replaced by a digest, the same each time")
  func collapse() {
    #expect(PushSubject.message(HostID(text: "473")).collapseText == "473")
    let longest = String(repeating: "a", count: 64)
    #expect(PushSubject.message(HostID(text: longest)).collapseText == longest)
    for text in [longest + "a", "a b", "ü"] {
      let digest = PushSubject.message(HostID(text: text)).collapseText
      #expect(digest.utf8.count == 36 && digest == PushSubject.message(HostID(text: text)).collapseText)
    }
  }

  @Test("ids are in the order of the bytes of their texts, as the database compares those of messages in hand")
  func order() {
    let uuids = (0..<100).map { _ in UUID().uuidString.lowercased() }
    let texts = uuids + ["a", "B", "ü", "z", "10", "9", "a\u{301}", "á", "f0000000"]
    let ids = texts.map { HostID(text: $0) }.sorted().map(\.text)
    #expect(ids == texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
  }

  @Test(
    "of ninety ids as long as ids can be, a push about reads names the newest that fit", arguments: ["a", "ü", "\""])
  func reads(_ letter: String) throws {
    let length = HostID.bytesMax / letter.utf8.count - 2
    let ids = (10..<100).map { HostID(text: String(repeating: letter, count: length) + "\($0)") }
    let conversation = HostID(text: String(repeating: letter, count: length))
    let push = try ReadSyncPush(messageIDs: ids, hasMore: false, in: conversation).push(about: .message(ids[0]))
    guard case .background(let custom) = push.payload, case .array(let named)? = custom["message_ids"] else {
      Issue.record("no list of ids")
      return
    }
    #expect(!named.isEmpty && named.count < 90)
    #expect(named.first == .string(ids[89].text))
    #expect(custom["all_before"] == .string(ids[89].text))
  }
}
