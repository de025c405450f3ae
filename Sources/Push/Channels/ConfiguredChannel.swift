package import PushRules
package import Reactors

/// A channel beside APNs. All that the modules above know of it is here, and ``KnownChannels`` has its name: a value is the channel
/// as an operator has set it up, shared by the reactors.
package protocol ConfiguredChannel: Sendable {
  associatedtype Values: SettingsGroup

  static var channel: DeliveryChannel { get }

  /// Beginnings of settings' names that nothing but the channel would use.
  static var settingPrefixes: [String] { get }

  /// Settings that name files with secrets.
  static var secretFiles: [SettingName] { get }

  /// What `tacet doctor` calls the check of the channel, and what it says where the channel is not set up.
  static var check: (name: String, off: String) { get }

  /// Who is asked, as explanations name it.
  static var service: String { get }

  /// A clause for each reason of the channel's own, as explanations say why a push did not arrive.
  static var reasons: [String: String] { get }

  static var form: ChannelForm { get }

  /// Nil where the channel is not set up, and where a problem was recorded.
  init?(_ values: Values, _ reader: inout SettingsReader)

  var registration: TargetRegistration { get }

  /// One reactor's deliverer, without a connection yet.
  func makeDeliverer(on reactor: isolated Reactor) -> any PushDeliverer

  /// Whether the channel's service takes the credentials, within 15 s; delivers nothing.
  func examine(on reactor: isolated Reactor) async -> ChannelFinding
}

package enum ChannelFinding: Equatable, Sendable {
  case ok(String)
  case warning(String)
  case failure(String, remedy: String)
}

/// The channels beside APNs, in the order in which settings, routes and checks come.
package enum KnownChannels {
  package static let all: [any ConfiguredChannel.Type] = [WebPushChannel.self, FCMChannel.self]

  /// The channel of a route by its name; nil for a route of APNs.
  package static func type(ofRoute name: String) -> (any ConfiguredChannel.Type)? {
    all.first { name.hasPrefix($0.channel.rawValue + "/") }
  }

  package static var forms: [DeliveryChannel: ChannelForm] {
    Dictionary(uniqueKeysWithValues: all.map { ($0.channel, $0.form) })
  }
}

/// What the settings say of one channel.
package struct ChannelReading: Sendable {
  package let type: any ConfiguredChannel.Type
  /// Nil where it is not set up, and where anything of it cannot be used.
  package let channel: (any ConfiguredChannel)?
  private let values: any SettingsGroup

  fileprivate init<Channel: ConfiguredChannel>(_ type: Channel.Type, _ reader: inout SettingsReader) {
    let problems = reader.problems.count
    let values = Channel.Values(&reader)
    let channel = Channel(values, &reader)
    self.type = type
    self.channel = reader.problems.count == problems ? channel : nil
    self.values = values
  }

  /// Names of settings that say something else than before.
  package func changes(since old: ChannelReading) -> [String] { values.changes(sinceOther: old.values) }
}

extension ConfiguredChannel {
  package static func read(_ reader: inout SettingsReader) -> ChannelReading { ChannelReading(self, &reader) }

  package static var settingNames: [SettingName] { Values.names }
}

extension SettingsGroup {
  /// The same for the values of a channel, whose type only the channel knows; all names where they are another channel's.
  fileprivate func changes(sinceOther old: any SettingsGroup) -> [String] {
    (old as? Self).map { changes(since: $0) } ?? Self.names.map(\.text)
  }
}
