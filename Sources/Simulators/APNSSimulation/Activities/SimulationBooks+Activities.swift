/// Live Activity pushes after their acceptance.
extension SimulationBooks {
  /// Shows an accepted push on its devices. What they do not show is recorded with its reason.
  /// - Returns: mistakes that APNs does not answer.
  mutating func show(
    _ request: InspectedRequest, judged verdict: PushVerdict, as origin: ActivityPush.Origin
  ) -> [LintFinding] {
    let push = ActivityPush(body: request.body)
    let findings = push?.alert.map { $0.hasTitle ? [] : [LintFinding(.liveActivityUntitledAlert)] } ?? []
    let device = registry.devices[verdict.push.token.lowercased()]
    guard let push, let event = push.event else {
      activities.drop(.noEvent, push: origin.push, device: device?.name)
      return findings
    }
    switch (device?.kind, event) {
    case (.pushToStart(let type, let allowsUpdates), .start):
      guard let device else { return findings }
      let start = ActivityStart(
        push: push, origin: origin, device: device, token: verdict.push.token.lowercased(), attributesType: type)
      begin(start, allowsUpdates: allowsUpdates ?? conduct.allowsActivityUpdates)
    case (.update(let activity, _), .update), (.update(let activity, _), .end):
      activities.show(push, from: origin, on: activity, hourly: conduct.activityBudget)
    default:
      activities.drop(.wrongToken, push: origin.push, device: device?.name)
      return findings + [LintFinding(.liveActivityWrongToken, event.rawValue)]
    }
    return findings
  }
}

/// A `start` that reached a device.
struct ActivityStart {
  let push: ActivityPush
  let origin: ActivityPush.Origin
  let device: RegisteredDevice
  /// The push-to-start token, in lower case.
  let token: String
  /// That of the push-to-start token.
  let attributesType: String

  var owner: SimulatedActivity.Owner { SimulatedActivity.Owner(environment: device.environment, bundle: device.bundle) }

  var deviceName: String { device.name ?? token }

  /// Why nothing starts; nil when an activity does.
  var drop: ActivityDrop? {
    guard let type = push.attributesType, !type.isEmpty else { return .noAttributesType }
    guard type == attributesType else { return .wrongAttributesType }
    guard let timestamp = push.timestamp else { return .noTimestamp }
    if timestamp > origin.at.seconds + SimulatedActivity.aheadSecondsMax { return .future }
    if push.state == nil { return .noState }
    if push.attributes == nil { return .noAttributes }
    return push.alert == nil ? .noAlert : nil
  }
}

extension SimulationBooks {
  private mutating func begin(_ start: ActivityStart, allowsUpdates: Bool) {
    if let reason = start.drop {
      return activities.drop(reason, push: start.origin.push, device: start.deviceName)
    }
    let identifier = activities.mintIdentifier()
    var activity = SimulatedActivity(
      identifier, on: start.deviceName, of: start.owner, attributesType: start.attributesType,
      attributes: start.push.attributes, startedAt: start.origin.at)
    activity.show(start.push, from: start.origin)
    guard add(activity, at: start.origin.at) else {
      return activities.drop(.tooMany, push: start.origin.push, device: start.deviceName)
    }
    if start.push.asksForToken, allowsUpdates { _ = renewToken(of: identifier, to: nil, at: start.origin.at) }
  }

  /// Adds an activity.
  /// - Returns: false when there are too many running ones.
  mutating func add(_ activity: SimulatedActivity, at now: WallInstant) -> Bool {
    guard let ended = activities.add(activity, at: now) else { return false }
    for token in ended { expire(token, at: now) }
    return true
  }

  /// Replaces the update token of a running activity, or gives it its first. The old one expires.
  /// - Parameter token: hexadecimal digits; nil for random ones.
  /// - Returns: the new one; nil without such an activity, or with a full registry.
  mutating func renewToken(of identifier: String, to token: String?, at now: WallInstant) -> String? {
    guard let activity = activities[identifier], activity.endedAt(now) == nil else { return nil }
    let token = (token ?? activities.mintToken()).lowercased()
    let device = RegisteredDevice(
      environment: activity.owner.environment, bundle: activity.owner.bundle, name: activity.device,
      kind: .update(activity: identifier, attributesType: activity.attributesType))
    guard registry.register(device, token: token) else { return nil }
    if let old = activities.setToken(token, of: identifier), old != token { expire(old, at: now) }
    return token
  }

  /// From now on a token is answered 410 `ExpiredToken`.
  mutating func expire(_ token: String, at now: WallInstant) {
    guard var device = registry.devices[token], device.end == nil else { return }
    device.end = .expired(atMilliseconds: now.milliseconds)
    registry.register(device, token: token)
  }
}
