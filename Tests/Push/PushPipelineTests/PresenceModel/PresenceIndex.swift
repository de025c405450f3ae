import FoundationEssentials
import Postgres
import PushRules
import TestIDs

/// Finds the timeline, message and user that ids in the database and tokens of pushes stand for.
struct PresenceIndex {
  struct Place {
    let timeline: Int
    let pair: PresencePair
    let device: Int
  }

  private var messages: [String: (timeline: Int, number: Int)] = [:]
  private var users: [String: Int] = [:]
  private var devices: [String: (user: Int, number: Int)] = [:]

  init(_ timelines: [PresenceTimeline]) {
    for (place, timeline) in timelines.enumerated() {
      for (number, id) in timeline.messages { messages[id] = (place, number) }
      for (user, id) in timeline.users.enumerated() {
        users[id] = user
        for (number, token) in timeline.tokens(of: user).enumerated() { devices[token] = (user, number) }
      }
    }
  }

  /// Nil when it is about a message or a device that was not made by a timeline.
  func place(of push: ScriptedChannel.Sent) -> Place? {
    let message = push.request.head.collapseIdentifier.flatMap { messages[$0.text] }
    guard let message, let device = devices[push.token] else { return nil }
    return Place(
      timeline: message.timeline, pair: PresencePair(message: message.number, user: device.user),
      device: device.number)
  }

  /// Nil when no timeline made the message or the user.
  func place(of row: PostgresRow) throws -> Place? {
    let (subject, user): (HostID, HostID) = (try row.decode("subject_id"), try row.decode("user_id"))
    guard let message = messages[subject.text], let number = users[user.text] else { return nil }
    return Place(
      timeline: message.timeline, pair: PresencePair(message: message.number, user: number), device: 0)
  }
}
