internal import PushRules
internal import Settings

/// What came of asking APNs for an app in an environment.
enum RouteAnswer: Equatable, Sendable {
  /// The server answered the push, with this reason; nil when it took it.
  case answered(status: Int, reason: String?)
  /// The key cannot sign.
  case unsigned(String)
  /// The server's certificate is not trusted, in OpenSSL's words.
  case untrusted(String)
  /// The server refuses connections.
  case refused
  case unresolved
  /// No connection or no answer in time.
  case timedOut
  /// Anything else, in the words of the error.
  case failed(String)
}

/// Whether APNs takes the provider token and the topic of an app.
///
/// Asked by a push to a device token that no device has. The answer `BadDeviceToken` is a success: APNs checks the
/// provider token and the topic first.
enum RouteCheck {
  static func judge(_ answer: RouteAnswer, of route: PushRoute, at origin: ServiceOrigin) -> CheckFinding {
    let name = "apns \(route.name)"
    let server = "\(origin.host), port \(origin.port)"
    switch answer {
    case .answered(let status, let reason): return judge(status, reason, name, server)
    case .unsigned(let words):
      return CheckFinding(name, .failure, "the key cannot sign: \(words)", remedy: "correct APNS_PRIVATE_KEY(_FILE)")
    case .untrusted(let words):
      return CheckFinding(
        name, .failure, "the certificate of \(server) is not trusted: \(words)",
        remedy: "name its authority in APNS_CA_FILE, or install the system's authorities (ca-certificates)")
    case .refused:
      return CheckFinding(
        name, .failure, "nobody takes connections at \(server)", remedy: "correct APNS_URL or APNS_SANDBOX_URL")
    case .unresolved:
      return CheckFinding(
        name, .failure, "the name of \(server) has no address",
        remedy: "see whether DNS works here, and whether APNS_URL or APNS_SANDBOX_URL is right")
    case .timedOut:
      return CheckFinding(
        name, .failure, "\(server) does not answer in time",
        remedy: "let the firewall pass TCP to port \(origin.port), or use port 2197 in APNS_URL")
    case .failed(let words):
      return CheckFinding(name, .failure, "\(server): \(words)", remedy: "see whether a proxy or firewall interferes")
    }
  }

  private static func judge(_ status: Int, _ reason: String?, _ name: String, _ server: String) -> CheckFinding {
    switch reason {
    case "BadDeviceToken",
      nil where status == 200:
      return CheckFinding(name, .ok, "\(server) takes the provider token and the topic")
    case "InvalidProviderToken":
      return CheckFinding(
        name, .failure, "\(server) refuses the provider token (InvalidProviderToken)",
        remedy:
          "see that APNS_KEY_ID and APNS_TEAM_ID are those of the key, that it is not revoked, and the clock right")
    case "ExpiredProviderToken":
      return CheckFinding(
        name, .failure, "\(server) calls a provider token expired that was just made",
        remedy: "set this machine's clock: it is an hour or more behind")
    case "BadTopic", "TopicDisallowed", "MissingTopic":
      return CheckFinding(
        name, .failure, "\(server) refuses the topic (\(reason ?? ""))",
        remedy: "see that APNS_BUNDLE_ID is an app of the team with push notifications, and the key is for it")
    case "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken":
      return CheckFinding(
        name, .failure, "\(server) refuses the key for this environment (\(reason ?? ""))",
        remedy: "use a key for both environments, or correct APNS_ENVIRONMENT")
    case "TooManyProviderTokenUpdates":
      return CheckFinding(
        name, .warning, "\(server) has seen too many provider tokens of this key lately",
        remedy: "wait twenty minutes before asking again")
    default:
      let words = reason.map { " (\($0))" } ?? ""
      return CheckFinding(
        name, .failure, "\(server) answers \(status)\(words)",
        remedy: status >= 500 || status == 429
          ? "wait; pushes go out when APNs takes them again" : "look the reason up in Apple's documentation")
    }
  }
}
