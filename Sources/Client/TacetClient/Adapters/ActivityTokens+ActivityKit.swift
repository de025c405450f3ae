#if canImport(ActivityKit) && os(iOS)
public import ActivityKit

// Linux has no ActivityKit, so this file is neither built nor tested there.

extension ActivityTokens {
  /// Reports the tokens of one Live Activity until it ends. Run it in a task of its own.
  @available(iOS 16.2, *)
  public func follow<Attributes: ActivityAttributes>(_ activity: Activity<Attributes>, id: String) async {
    for await token in activity.pushTokenUpdates { take(updateToken: token, ofActivity: id) }
    end(activity: id)
  }

  /// Reports the tokens by which the service starts Live Activities of a type. Run it in a task at each start of the app.
  @available(iOS 17.2, *)
  public func followStarts<Attributes: ActivityAttributes>(of type: Attributes.Type) async {
    for await token in Activity<Attributes>.pushToStartTokenUpdates {
      take(startToken: token, of: String(describing: type))
    }
  }

  /// Reports the tokens of all Live Activities of a type, also of those that the service starts. Run it in a task at each
  /// start of the app.
  /// - Parameter id: the service's id of a Live Activity, which its attributes carry.
  @available(iOS 16.2, *)
  public func followAll<Attributes: ActivityAttributes>(
    of type: Attributes.Type, id: @escaping @Sendable (Attributes) -> String
  ) async {
    for await activity in Activity<Attributes>.activityUpdates {
      Task { await follow(activity, id: id(activity.attributes)) }
    }
  }
}
#endif
