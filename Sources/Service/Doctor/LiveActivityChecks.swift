internal import APNS
internal import APNSCore
internal import PushStore
internal import Settings

/// Whether states of Live Activities can be made: a type with a fault refuses all of them.
enum ActivityTypeCheck {
  static let name = "activity types"

  static func judge(_ types: [ExaminedActivityType]) -> [CheckFinding] {
    let faults = types.compactMap { type in
      type.fault.map {
        CheckFinding(
          name, .failure, "\(type.name): \($0)",
          remedy: "correct its row of tacet.activity_types; db/README.md has the form")
      }
    }
    guard faults.isEmpty else { return faults }
    return [CheckFinding(name, .ok, types.isEmpty ? "none" : types.map(\.name).joined(separator: ", "))]
  }
}

/// Whether the broadcast channels are those that Apple has, in both directions.
enum ChannelCheck {
  static let name = "channels"

  /// Names listed in a line.
  private static let namesMax = 5

  /// - Parameters:
  ///   - channels: those of the app in the environment. listed: Apple's.
  static func judge(
    _ channels: [ExaminedChannel], listed: Result<[ChannelIdentifier], APNSChannelsError>, of route: PushRoute
  ) -> [CheckFinding] {
    let name = "\(name) \(route.name)"
    let undecided = channels.filter(\.isUndecided).map(\.name)
    var found =
      undecided.isEmpty
      ? []
      : [
        CheckFinding(
          name, .warning, "Apple was asked to make \(words(undecided)), and nobody knows whether it did",
          remedy: "delete each with DELETE /v1/live-activities/channels/{id}, and create it again")
      ]
    switch listed {
    case .failure(let error):
      found.append(
        CheckFinding(
          name, .failure, "Apple does not list them: \(error)",
          remedy: "see that the app may send broadcasts (Apple's developer portal, Identifiers), and APNS_CHANNELS_URL")
      )
    case .success(let listed): found += compare(channels, Set(listed.map(\.text)), name)
    }
    return found.isEmpty ? [CheckFinding(name, .ok, "\(channels.count), and Apple lists the same")] : found
  }

  private static func compare(_ channels: [ExaminedChannel], _ listed: Set<String>, _ name: String) -> [CheckFinding] {
    var found: [CheckFinding] = []
    let gone = channels.filter { channel in
      channel.goneBecause != nil || channel.channelID.map { !listed.contains($0) } ?? false
    }
    if !gone.isEmpty {
      found.append(
        CheckFinding(
          name, .failure, "Apple no longer has \(words(gone.map(\.name))): nobody gets their states",
          remedy: "delete each with DELETE /v1/live-activities/channels/{id}, and create it again"))
    }
    let strange = listed.subtracting(channels.compactMap(\.channelID)).count
    if strange > 0 {
      found.append(
        CheckFinding(
          name, .warning,
          "Apple lists \(strange) that this database does not know: of another service, or made without an answer",
          remedy: "delete those that nobody uses, in Apple's console; an app may have \(APNSChannels.channelsMax)"))
    }
    return found
  }

  private static func words(_ names: [String]) -> String {
    let shown = names.prefix(namesMax).joined(separator: ", ")
    return names.count > namesMax ? "\(shown) and \(names.count - namesMax) more" : shown
  }

  /// Apps and environments that have channels, each with its own.
  static func routes(
    _ channels: [ExaminedChannel], apns: APNSSettings
  ) -> [(route: PushRoute, channels: [ExaminedChannel])] {
    apns.apps.flatMap { app in
      APNSEnvironment.allCases.map { environment in
        let own = channels.filter { channel in
          apns.app(registered: channel.app) == app.bundleIdentifier.text
            && (channel.environment.isEmpty ? app.environment.rawValue : channel.environment) == environment.rawValue
        }
        return (PushRoute(app: app.bundleIdentifier, environment: environment), own)
      }
    }.filter { !$0.channels.isEmpty }
  }
}
