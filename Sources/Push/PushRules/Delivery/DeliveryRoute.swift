/// A way for pushes to reach devices: a push service with addresses, credentials, answers and limits of its own.
///
/// A text rather than an enumeration, because the database keeps it and each channel names itself.
package struct DeliveryChannel: RawRepresentable, Hashable, Sendable {
  /// As targets name it: small letters and underscores.
  package let rawValue: String

  package init(rawValue: String) { self.rawValue = rawValue }
}

/// The part of a channel that works or fails as one: it has one credential and one service behind it.
///
/// Credentials, faults of configuration and outages belong to a route rather than to a push.
package struct DeliveryRoute: Hashable, Sendable {
  package let channel: DeliveryChannel

  /// The route's name in the database and in logs, unique over all channels.
  package let name: String

  package init(_ channel: DeliveryChannel, name: String) {
    self.channel = channel
    self.name = name
  }
}

/// Admits pushes, and may change its mind while they wait for a connection or a stream.
package protocol PushGate: AnyObject {
  /// Whether a push that was admitted under this number may still go.
  func admits(_ number: Int) -> Bool
}

/// The permission to send a push, checked again just before: a push that waits for a stream must not outlive its reason.
package struct PushPermit {
  private let gate: any PushGate
  private let number: Int

  /// - Parameter number: tells the gate when it admitted the push.
  package init(from gate: any PushGate, number: Int) {
    self.gate = gate
    self.number = number
  }

  package var isValid: Bool { gate.admits(number) }
}
