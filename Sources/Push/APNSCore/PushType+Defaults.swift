// What a push of a type is sent with unless somebody has a reason for something else.
extension PushType {
  /// The priority that suits the type: 5 where APNs takes no other or counts 10 toward a budget, else 10, which is also
  /// APNs' own default.
  public var usualPriority: PushPriority {
    switch self {
    case .background, .liveactivity: .powerAware
    default: .immediate
    }
  }

  /// How long APNs keeps a push of the type: what somebody says into a walkie-talkie is worth nothing later, the rest is
  /// left to the service.
  public var usualExpiration: PushExpiration {
    self == .pushtotalk ? .attemptOnce : .servicePolicy
  }
}
