@testable import PushExplanations

/// An explanation as it is told.
enum Story {
  /// Of a push that was held and then sent.
  static func explanation(of subject: String, to user: String) -> EventExplanation {
    let start: Int64 = 1_800_000_000_000_000
    typealias Detail = EventExplanation.Detail
    return EventExplanation(
      subjectID: subject, kind: "message", summary: "The message was pushed to one recipient.", committedAt: start,
      recipients: [
        EventExplanation.Recipient(
          userID: user, summary: "The push was sent to one device after a hold of half a minute.",
          steps: [
            .init(at: start, text: "Committed.", details: []),
            .init(
              at: start + 2_000, text: "Claimed and held, because the recipient had just been looking.",
              details: [Detail(name: "Seen", value: "4.2 s before"), Detail(name: "Devices", value: "1")]),
            .init(
              at: start + 31_200_000, text: "Sent to <iPhone>; APNs accepted it.",
              details: [Detail(name: "Device", value: "c0ffee17"), Detail(name: "Status", value: "200")]),
          ])
      ])
  }
}
