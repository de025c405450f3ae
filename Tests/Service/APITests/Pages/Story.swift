@testable import Operations

/// An explanation as it is told.
enum Story {
  private static let start: Int64 = 1_800_000_000_000_000

  /// Of an event that was set aside for all but one of its recipients.
  static func parked(_ subject: String, to user: String) -> EventExplanation {
    EventExplanation(
      subjectID: subject, kind: "message", summary: "The event was set aside.", committedAt: start,
      steps: [
        .init(.unclaimed, at: start + 1_000, text: "Nobody has <claimed> it."),
        .init(
          .parked, at: start + 45_000_000, text: "Set aside after five claims.",
          details: [EventExplanation.Detail(name: "Why", value: "division by zero")]),
      ],
      recipients: [
        EventExplanation.Recipient(
          userID: user, summary: "The push was sent.",
          steps: [.init(.decided, at: start + 50_000_000, text: "Decided to send.")])
      ], hasMoreRecipients: true)
  }

  /// Of a push that was held and then sent.
  static func explanation(of subject: String, to user: String) -> EventExplanation {
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
