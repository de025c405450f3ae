import Foundation
import PushRules

@testable import PushPipeline

/// What the phone of one timeline's recipient has shown, and whether it may have.
struct FoldOracle {
  /// A push that the phone has got; times in virtual microseconds.
  private struct Shown {
    let message: Int
    let collapse: String
    let sentAt: Int64
    let sounds: Bool
    let isMention: Bool
  }

  /// Between a decision and the moment when the push is handed over, on a busy machine.
  private static let lag: Int64 = 3_000_000

  let window: Int64
  private(set) var violations: [String] = []
  private(set) var sounds = 0
  private(set) var updates = 0
  private(set) var messages = 0
  private var shown: [Shown] = []
  /// The message of each notification, by its collapse identifier.
  private var screen: [String: Int] = [:]
  /// When a push with sound was last handed over, by its collapse identifier.
  private var soundSentAt: [String: Int64] = [:]
  /// The newest message that the recipient has read or may have seen.
  private var handled = -1
  private var mentions: Set<Int> = []

  init(window: Int64) { self.window = window }

  mutating func apply(_ action: FoldTimeline.Action) {
    switch action {
    case .post: messages += 1
    case .mention(let number):
      messages += 1
      mentions.insert(number)
    // A report says that all was seen; one that comes while pushes are held may skip them.
    case .read, .look: handled = messages - 1
    case .leave: break
    }
  }

  /// A push is handed over.
  mutating func sent(_ push: FoldPush, at time: Int64) {
    if push.sounds {
      soundSentAt[push.collapse] = time
    } else {
      let sounded = soundSentAt[push.collapse]
      // A mention within the window of another sound may be skipped before it goes out; its burst then has no sound of its own.
      if sounded.map({ time > $0 + window + Self.lag }) ?? mentions.isEmpty {
        violations.append("an update of \(push.message) at \(time), but its burst sounded at \(sounded ?? -1)")
      }
      if !push.isPassive { violations.append("an update of \(push.message) that is not passive") }
    }
  }

  /// The phone has it; pushes that overtake each other come in the order of their answers.
  mutating func accepted(_ push: FoldPush, sentAt: Int64) {
    let isMention = mentions.contains(push.message)
    if let same = shown.last(where: { $0.collapse == push.collapse }), same.message > push.message {
      violations.append("the text went back from \(same.message) to \(push.message)")
    }
    if push.more >= max(1, messages) { violations.append("+\(push.more) more of \(messages)") }
    screen[push.collapse] = push.message
    sounds += push.sounds ? 1 : 0
    updates += push.sounds ? 0 : 1
    shown.append(
      Shown(message: push.message, collapse: push.collapse, sentAt: sentAt, sounds: push.sounds, isMention: isMention))
  }

  /// Once nothing is left to do.
  mutating func judgeEnd() {
    let shown = shown.sorted { $0.sentAt < $1.sentAt }
    let sounding = shown.filter { $0.sounds && !$0.isMention }
    for (last, next) in zip(sounding, sounding.dropFirst()) where next.sentAt < last.sentAt + window - Self.lag {
      violations.append("\(next.message) sounds at \(next.sentAt), but \(last.message) did at \(last.sentAt)")
    }
    let newest = messages - 1
    guard newest > handled else { return }
    // Beside it there may be the notification of an older mention, or of what sounded anew while a slow update was in flight.
    let last = shown.last { $0.message == newest }.flatMap { self.screen[$0.collapse] }
    if last != newest {
      violations.append("shows \(last ?? -1) in the end instead of \(newest); seen \(handled)")
    }
  }
}

/// A push as the phone reads it.
struct FoldPush {
  let message: Int
  let token: String
  let collapse: String
  let sounds: Bool
  let isPassive: Bool
  let more: Int

  private struct Payload: Decodable {
    struct APS: Decodable {
      struct Alert: Decodable {
        var subtitle: String?
        var body: String
      }
      let alert: Alert
      var sound: String?
      var level: String?
      private enum CodingKeys: String, CodingKey {
        case alert, sound
        case level = "interruption-level"
      }
    }
    let aps: APS
  }

  init?(_ sent: ScriptedChannel.Sent) {
    guard let payload = try? JSONDecoder().decode(Payload.self, from: Data(sent.request.body)),
      let message = payload.aps.alert.body.split(separator: " ").first.flatMap({ Int($0) }),
      let collapse = sent.request.head.collapseIdentifier?.text
    else { return nil }
    self.message = message
    self.collapse = collapse
    token = sent.token
    sounds = payload.aps.sound != nil
    isPassive = payload.aps.level == "passive"
    more = payload.aps.alert.subtitle.flatMap { $0.firstMatch(of: /\d+/).flatMap { Int($0.output) } } ?? 0
  }
}
