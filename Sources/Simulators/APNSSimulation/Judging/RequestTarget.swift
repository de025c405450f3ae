/// The subject of a request.
public enum RequestKind: Equatable, Sendable {
  /// A push to one device token.
  case device
  /// A push to all subscribers of a channel.
  case broadcast
  /// Creates, reads, deletes or lists channels.
  case management

  /// The field that names the request.
  var identifierField: String { self == .device ? "apns-id" : "apns-request-id" }
}

/// A request line of a broadcast or of channel management. All others belong to the device endpoint.
///
/// The real service has separate hosts for management. One listener suffices here, because the paths differ.
enum RequestTarget: Equatable {
  case device
  case broadcast(bundle: String)
  case create(bundle: String)
  case read(bundle: String)
  case delete(bundle: String)
  case list(bundle: String)
  /// A wrong path or method below one of the prefixes.
  case unknown(RequestKind)

  private static let broadcasts = "/4/broadcasts"
  private static let management = "/1/apps"

  init(_ request: InspectedRequest) {
    if request.path.hasPrefix(Self.broadcasts) {
      self = Self.broadcast(request)
    } else if request.path.hasPrefix(Self.management) {
      self = Self.management(request)
    } else {
      self = .device
    }
  }

  var kind: RequestKind {
    switch self {
    case .device: .device
    case .broadcast: .broadcast
    case .create, .read, .delete, .list: .management
    case .unknown(let kind): kind
    }
  }

  private static func broadcast(_ request: InspectedRequest) -> RequestTarget {
    let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
    guard request.method == "POST", parts.count == 5, parts[2] == "broadcasts", parts[3] == "apps", !parts[4].isEmpty
    else { return .unknown(.broadcast) }
    return .broadcast(bundle: String(parts[4]))
  }

  private static func management(_ request: InspectedRequest) -> RequestTarget {
    let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[2] == "apps", !parts[3].isEmpty else { return .unknown(.management) }
    let bundle = String(parts[3])
    switch (request.method, parts[4]) {
    case ("POST", "channels"): return .create(bundle: bundle)
    case ("GET", "channels"): return .read(bundle: bundle)
    case ("DELETE", "channels"): return .delete(bundle: bundle)
    case ("GET", "all-channels"): return .list(bundle: bundle)
    default: return .unknown(.management)
    }
  }
}
