internal import Channels
internal import Cryptography
internal import FoundationEssentials
internal import HTTPTransfers
internal import HTTPTypes
internal import PushRules
internal import PushStore
internal import Reactors
internal import Settings

/// What browsers subscribe with.
enum BrowserCheck {
  static let name = "browsers"
  static let notUsed = CheckFinding(name, .skipped, "VAPID_PRIVATE_KEY is not set")

  static func judge(_ settings: WebPushSettings) -> CheckFinding {
    guard let key = try? P256PrivateKey(pem: settings.privateKey.exposed) else {
      return CheckFinding(name, .failure, "the key cannot be used", remedy: "make another VAPID_PRIVATE_KEY")
    }
    let text = Base64URL.encode(key.publicKey.x963)
    let services = settings.hosts.routeNames.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
    return CheckFinding(
      name, .ok,
      "they subscribe with \(text.prefix(12))..., at \(services.joined(separator: ", ")); clicks open \(settings.links.origin)"
    )
  }
}

/// Whether Google takes the service account's messages.
enum AndroidCheck {
  static let name = "fcm"
  static let notUsed = CheckFinding(name, .skipped, "FCM_SERVICE_ACCOUNT is not set")

  /// No device has it, so that an answer about it shows that everything else is right.
  private static let token = "tacet-doctor:" + String(repeating: "0", count: 140)

  /// As long as APNs has.
  private static let limit: UInt64 = 15_000_000_000

  static func look(_ settings: FCMSettings, on reactor: isolated Reactor) async -> CheckFinding {
    let client = FCMClient(AccessTokenSource(settings.account), settings.configuration, on: reactor)
    defer { client.close(on: reactor) }
    let attempt = await client.validate(token, until: Reactor.now &+ limit, on: reactor)
    return judge(attempt, project: settings.account.projectIdentifier)
  }

  static func judge(_ attempt: DeliveryAttempt, project: String) -> CheckFinding {
    let reason = attempt.ledgerReason ?? "no reason"
    switch (attempt.fault, attempt.disposition) {
    case (nil, .accepted), (nil, .dropToken), (nil, .suspectToken):
      return CheckFinding(name, .ok, "project \(project) takes messages")
    case (.configuration, _):
      return CheckFinding(
        name, .failure, "project \(project) refuses the service account: \(reason)",
        remedy: "see that the account is of the project, has the role cloudmessaging.messages.create, and that the "
          + "Firebase Cloud Messaging API is on")
    case (.connection, _):
      return CheckFinding(
        name, .failure, "Google cannot be reached: \(reason)",
        remedy: "see whether this host may connect to fcm.googleapis.com and oauth2.googleapis.com, or FCM_URL is right"
      )
    default: return CheckFinding(name, .warning, "the answer says nothing about the account: \(reason)")
    }
  }
}

/// What came of fetching the key set.
enum KeySetAnswer: Equatable, Sendable {
  case answered(status: Int, body: [UInt8])
  /// It did not, in words without the URL.
  case failed(String)
}

/// Whether the keys of clients' tokens are available.
enum KeySetCheck {
  static let name = "jwks"

  static let notUsed = CheckFinding(name, .skipped, "JWKS_URL is not set")

  private struct Document: Decodable {
    struct Key: Decodable {
      let kty: String
    }

    let keys: [Key]
  }

  static func judge(_ answer: KeySetAnswer) -> CheckFinding {
    switch answer {
    case .failed(let words):
      return CheckFinding(
        name, .failure, "the key set cannot be fetched: \(words)",
        remedy: "see whether JWKS_URL and JWKS_CA_FILE are right and the host can be reached from here")
    case .answered(200, let body): return judge(body)
    case .answered(let status, _):
      return CheckFinding(name, .failure, "the answer is status \(status)", remedy: "correct JWKS_URL")
    }
  }

  private static func judge(_ body: [UInt8]) -> CheckFinding {
    guard let document = try? JSONDecoder().decode(Document.self, from: Data(body)) else {
      return CheckFinding(name, .failure, "the answer is no key set", remedy: "correct JWKS_URL")
    }
    guard !document.keys.isEmpty else {
      return CheckFinding(
        name, .failure, "the key set has no key", remedy: "add an asymmetric signing key where clients log in")
    }
    let types = Set(document.keys.map { printable($0.kty) }).sorted().joined(separator: ", ")
    return CheckFinding(name, .ok, "\(document.keys.count) keys (\(types))")
  }

  private static func printable(_ text: String) -> String {
    text.prefix(8).filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
  }
}

/// Fetches the key set once.
enum KeySetProbe {
  /// As long as the service waits.
  private static let limit = Duration.seconds(5)
  private static let documentBytesMax = 256 * 1024

  static func ask(_ url: String, certificates: String?, on reactor: isolated Reactor) async -> KeySetAnswer {
    var configuration = HTTPTransferConfiguration()
    if let certificates { configuration.trust = .only(certificates) }
    let client = HTTPTransferClient(configuration, on: reactor)
    defer { client.close(on: reactor) }
    do throws(HTTPTransferError) {
      let response = try await client.send(
        HTTPTransferRequest(
          url: url, fields: [.accept: "application/json"], deadline: limit, bodyBytesMax: documentBytesMax),
        on: reactor)
      return .answered(status: response.status.code, body: response.body)
    } catch {
      return .failed(error.debugDescription)
    }
  }
}

enum HostEventCheck {
  static let name = "host events"
  static let receiverName = "host events receiver"
  /// A host that is away for longer than a deployment takes.
  static let lateFrom = Duration.seconds(900)
  private static let limit = Duration.seconds(5)

  /// - Parameter isConfigured: whether the settings say where events go.
  static func judge(_ figures: HostEventFigures, isConfigured: Bool) -> CheckFinding {
    guard isConfigured || figures != HostEventFigures() else {
      return CheckFinding(name, .skipped, "none are announced; see tacet.announce")
    }
    let announced = figures.announced.isEmpty ? "none" : figures.announced.joined(separator: ", ")
    let waiting = FindingWords.count(figures.waiting, of: HostEventFigures.rowsMax, "event waits", "events wait")
    let age = figures.oldestAge.map { ", the oldest for \(FindingWords.duration($0))" } ?? ""
    let found = "announced: \(announced); \(waiting)\(age)"
    guard isConfigured else {
      return CheckFinding(
        name, .warning, "\(found), and EVENTS_URL is not set",
        remedy: "set EVENTS_URL and EVENTS_SECRET, or call tacet.announce_nothing")
    }
    if figures.dead > 0 {
      let dead = FindingWords.count(figures.dead, of: HostEventFigures.rowsMax, "is dead", "are dead")
      return CheckFinding(
        name, .warning, "\(found); \(dead)",
        remedy: "see /dashboard/events for the host's answers, then send them again there")
    }
    guard (figures.oldestAge ?? .zero) < lateFrom else {
      return CheckFinding(
        name, .warning, found, remedy: "see on /dashboard/events what the host answers, and whether tacet serve runs")
    }
    return CheckFinding(name, .ok, found)
  }

  static func look(_ settings: EventSettings, on reactor: isolated Reactor) async -> CheckFinding {
    let receiver = HostEventReceiver(HostEventConfiguration(settings), on: reactor)
    defer { receiver.close(on: reactor) }
    return judge(await receiver.probe(within: limit, on: reactor))
  }

  static func judge(_ answer: Result<Int, HostEventFault>) -> CheckFinding {
    switch answer {
    case .success(let status):
      return CheckFinding(receiverName, .ok, "it can be reached, and answers \(status) to a GET without a signature")
    case .failure(let fault):
      return CheckFinding(
        receiverName, .failure, "it cannot be reached: \(fault)",
        remedy: "see whether this host may connect to the one in EVENTS_URL, and whether it runs")
    }
  }
}
