import APNSCore
import Testing

@Suite("Prepared alerts")
struct PreparedAlertTests {
  @Test("each recipient's document is the one encoded alone", arguments: [nil, 0, 1, 99, Int.max])
  func sameBytes(badge: Int?) throws {
    var payload = try AlertPayload(title: "t", body: "b", badge: 7, sound: "default", custom: ["k": "v"])
    let prepared = PreparedAlert(payload)
    payload.badge = badge
    #expect(prepared.encoded(badge: badge) == payload.encoded())
  }
}
