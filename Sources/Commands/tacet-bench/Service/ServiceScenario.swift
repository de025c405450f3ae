import ArgumentParser

/// What is done to the service, by the name that its figures are reported under.
enum ServiceScenario: ExpressibleByArgument, Sendable, Equatable, CustomStringConvertible {
  /// Messages inserted at a steady rate per second: `messages-notify-RATE`, `messages-webhook-RATE`.
  case messages(WakeWay, perSecond: Int)
  /// The highest rate that it keeps up with.
  case sustained
  /// One message to many: `fanout-RECIPIENTS`.
  case fanOut(recipients: Int)
  /// Messages to one, while messages to thousands are on their way.
  case directDuringFanOut
  /// Many messages at once: `burst-MESSAGES`.
  case burst(messages: Int)
  /// Messages to people who are looking.
  case suppressed
  /// From nothing to ready, and what it then takes.
  case start
  /// The database alone, to set the other figures beside.
  case reference

  init?(argument: String) {
    let words = argument.split(separator: "-", omittingEmptySubsequences: false)
    switch (words[0], words.count) {
    case ("messages", 3):
      guard let way = WakeWay(rawValue: String(words[1])), let rate = Self.number(words[2]) else { return nil }
      self = .messages(way, perSecond: rate)
    case ("burst", 2):
      guard let messages = Self.number(words[1]) else { return nil }
      self = .burst(messages: messages)
    case ("fanout", 2):
      guard let recipients = Self.number(words[1]) else { return nil }
      self = .fanOut(recipients: recipients)
    default:
      guard let scenario = Self.named.first(where: { $0.description == argument }) else { return nil }
      self = scenario
    }
  }

  /// Those without a number.
  private static let named: [ServiceScenario] = [.sustained, .directDuringFanOut, .suppressed, .start, .reference]

  var description: String {
    switch self {
    case .messages(let way, let rate): "messages-\(way.rawValue)-\(rate)"
    case .sustained: "sustained"
    case .burst(let messages): "burst-\(messages)"
    case .fanOut(let recipients): "fanout-\(recipients)"
    case .directDuringFanOut: "direct-during-fanout"
    case .suppressed: "suppressed"
    case .start: "start"
    case .reference: "reference"
    }
  }

  /// From 1 to a million, without a sign or zeros in front.
  private static func number(_ text: Substring) -> Int? {
    guard let number = Int(text), (1...1_000_000).contains(number), String(number) == text else { return nil }
    return number
  }
}

/// How the service learns of a message.
enum WakeWay: String, Sendable {
  /// The trigger notifies, as everywhere without pg_net.
  case notify
  /// A webhook is posted after the commit; nobody notifies.
  case webhook
}
