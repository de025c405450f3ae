/// Live Activities for scripts and tests.
extension SimulatedService {
  package func withActivities<Result: Sendable>(_ body: (ActivityBook) throws -> Result) rethrows -> Result {
    try withBooks { books in try body(books.activities) }
  }

  /// Registers a token of any kind. With an update token of an unknown activity, the app has started that activity. With
  /// another token of a known one, the old token expires.
  /// - Returns: false when there are too many tokens or activities.
  @discardableResult
  package func register(_ device: RegisteredDevice, token: String) -> Bool {
    let now = clock.now
    return withBooks { books in
      guard case .update(let identifier, let type) = device.kind else {
        return books.registry.register(device, token: token)
      }
      if books.activities[identifier] == nil {
        let owner = SimulatedActivity.Owner(environment: device.environment, bundle: device.bundle)
        let activity = SimulatedActivity(
          identifier, on: device.name ?? token.lowercased(), of: owner, attributesType: type, startedAt: now)
        guard books.add(activity, at: now) else { return false }
      }
      guard books.registry.register(device, token: token) else { return false }
      let old = books.activities.setToken(token.lowercased(), of: identifier)
      if let old, old != token.lowercased() { books.expire(old, at: now) }
      return true
    }
  }

  /// Removes a token, which then is unknown. An activity loses its update token.
  /// - Returns: whether it was registered.
  @discardableResult
  package func removeToken(_ token: String) -> Bool {
    withBooks { books in
      let token = token.lowercased()
      if case .update(let activity, _) = books.registry.devices[token]?.kind, books.activities[activity]?.token == token
      {
        books.activities.setToken(nil, of: activity)
      }
      return books.registry.removeDevice(token: token)
    }
  }

  /// Replaces the update token of a running activity, or gives it its first, as if the user had now allowed updates. The
  /// old one expires.
  /// - Parameter token: hexadecimal digits; nil for random ones.
  /// - Returns: the new token; nil when no such activity runs, or with too many tokens.
  package func renewToken(of activity: String, to token: String? = nil) -> String? {
    let now = clock.now
    return withBooks { $0.renewToken(of: activity, to: token, at: now) }
  }

  /// Ends an activity on its device, as the user or the app does. Its update token expires.
  /// - Returns: whether there is such an activity.
  @discardableResult
  package func dismissActivity(_ identifier: String) -> Bool {
    let now = clock.now
    return withBooks { books in
      guard let activity = books.activities[identifier] else { return false }
      books.activities.dismiss(identifier, at: now)
      if let token = activity.token { books.expire(token, at: now) }
      return true
    }
  }

  /// Forgets all activities and the counters of drops. Their update tokens expire.
  package func forgetActivities() {
    let now = clock.now
    withBooks { books in
      for token in books.activities.removeAll() { books.expire(token, at: now) }
    }
  }
}
