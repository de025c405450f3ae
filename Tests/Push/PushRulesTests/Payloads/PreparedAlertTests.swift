import PushRules
import Testing

@Suite("Prepared alerts")
struct PreparedAlertTests {
  @Test("each recipient's document is the one encoded alone", arguments: [-1, 0, 1, 99, Int.max])
  func sameBytes(badge: Int) throws {
    for own in [nil, 7] {
      let prepared = PreparedAlert(try payload(badge: own))
      #expect(try prepared.encoded(badge: badge) == payload(badge: badge).encoded())
      #expect(prepared.bytes(withBadge: badge) == prepared.encoded(badge: badge).count)
    }
  }

  @Test("without any text the badge comes first")
  func onlyBadge() throws {
    let prepared = PreparedAlert(try AlertPayload(sound: .default))
    #expect(String(decoding: prepared.encoded(badge: 2), as: UTF8.self) == #"{"aps":{"badge":2,"sound":"default"}}"#)
    let bare = PreparedAlert(try AlertPayload(badge: 1))
    #expect(String(decoding: bare.encoded(badge: 2), as: UTF8.self) == #"{"aps":{"badge":2}}"#)
  }

  @Test("a recipient without a badge gets the document without the member, wherever it stands")
  func noBadge() throws {
    #expect(try PreparedAlert(payload(badge: 7)).encoded(badge: nil) == payload(badge: nil).encoded())
    let first = PreparedAlert(try AlertPayload(sound: .default))
    #expect(String(decoding: first.encoded(badge: nil), as: UTF8.self) == #"{"aps":{"sound":"default"}}"#)
    let bare = PreparedAlert(try AlertPayload(badge: 1), identifierName: "id")
    let id = "01234567-89ab-cdef-0123-456789abcdef"
    #expect(String(decoding: bare.encoded(badge: nil, identifier: id), as: UTF8.self) == #"{"aps":{},"id":"\#(id)"}"#)
  }

  @Test("an identifier is the last member, and takes the bytes that were said", arguments: [0, 7, Int.max])
  func identifier(badge: Int) throws {
    let id = "01234567-89ab-cdef-0123-456789abcdef"
    let plain = try payload(badge: badge).encoded()
    let prepared = PreparedAlert(try payload(badge: nil), identifierName: "id")
    let document = prepared.encoded(badge: badge, identifier: id)
    #expect(
      String(decoding: document, as: UTF8.self) == String(decoding: plain.dropLast(), as: UTF8.self)
        + #","id":"\#(id)"}"#)
    #expect(document.count == plain.count + PreparedAlert.bytes(ofIdentifierNamed: "id"))
    #expect(prepared.bytes(withBadge: badge) == document.count)
  }

  private func payload(badge: Int?) throws -> AlertPayload {
    try AlertPayload(
      title: "t", subtitle: "s", body: .localized(key: "k", arguments: ["a"]), badge: badge,
      sound: .critical(name: "default", volume: .one), threadIdentifier: "c", interruptionLevel: .timeSensitive,
      runsServiceExtension: true, wakesApp: true, custom: ["k": "v"])
  }
}
