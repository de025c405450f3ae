internal import Cryptography
internal import FoundationEssentials
internal import HTTPTransfers
package import HTTPTypes
internal import PushRules
internal import PushStore
package import Reactors
package import Settings

package struct HostEventConfiguration: Sendable {
  /// `https`, or `http` on this machine.
  package var url: String
  /// The authorities trusted there, as PEM text; nil for the system's.
  package var certificates: String?
  /// Signs each attempt.
  package var signer: WebhookSigner
  /// How long after its first attempt an event is dead. Three days are a long weekend.
  package var givesUp = Duration.seconds(3 * 86_400)
  /// How long the receiver may take to answer. Standard Webhooks recommends 15 to 30 s; a receiver that stores first and works later
  /// takes milliseconds, and a user's next event waits for it.
  package var limit = Duration.seconds(15)
  /// Events under way, each of another user.
  package var places = 8

  package init(url: String, signer: WebhookSigner) {
    self.url = url
    self.signer = signer
  }

  package init(_ settings: EventSettings) {
    self.init(url: settings.url.exposed, signer: WebhookSigner(keys: settings.signingKeys.map(\.exposed)))
    certificates = settings.certificates
    givesUp = settings.givesUp
  }

  var transfers: HTTPTransferConfiguration {
    var transfers = HTTPTransferConfiguration()
    transfers.transfersMax = places
    transfers.reach = HTTPTransferReach(includesPlainHTTP: false)
    if let certificates { transfers.trust = .only(certificates) }
    return transfers
  }
}

/// The host's webhook, on one reactor.
package final class HostEventReceiver {
  /// The largest answer. Its content says nothing that the service needs.
  private static let answerBytesMax = 64 * 1024

  let configuration: HostEventConfiguration
  private let transfers: HTTPTransferClient

  /// Makes no connection.
  package init(_ configuration: HostEventConfiguration, on reactor: isolated Reactor) {
    self.configuration = configuration
    transfers = HTTPTransferClient(configuration.transfers, on: reactor)
  }

  /// Sends an event once. Redirects are not followed.
  func send(_ event: HostEvent, on reactor: isolated Reactor) async -> HostEventAnswer {
    let (now, body) = (Int64(Date().timeIntervalSince1970), event.body)
    var fields = configuration.signer.fields(id: event.webhookID.lowercased, timestamp: now, body: body)
    fields[.contentType] = "application/json"
    let request = HTTPTransferRequest(
      .post, url: configuration.url, fields: fields, body: body, deadline: configuration.limit,
      bodyBytesMax: Self.answerBytesMax)
    let chance = Double.random(in: 0.8...1.2)
    do throws(HTTPTransferError) {
      let response = try await transfers.send(request, on: reactor)
      return HostEventWaits.judge(
        status: response.status.code, retryAfter: response.fields[.retryAfter], date: response.fields[.date],
        attempt: event.attempt, now: now, chance: chance)
    } catch {
      return HostEventWaits.judge(error, attempt: event.attempt, chance: chance)
    }
  }

  /// Whether anything answers, whatever it says to a GET without a signature.
  /// - Returns: the status, or why there is none.
  func probe(within limit: Duration, on reactor: isolated Reactor) async -> Result<Int, HTTPTransferError> {
    do throws(HTTPTransferError) {
      let request = HTTPTransferRequest(url: configuration.url, deadline: limit, bodyBytesMax: 1 << 20)
      return .success(try await transfers.send(request, on: reactor).status.code)
    } catch {
      return .failure(error)
    }
  }

  /// Ends what is under way.
  package func close(on reactor: isolated Reactor) { transfers.close(on: reactor) }
}

/// When an event is tried again that the host has not taken.
///
/// A host that is away is tried after 5 s, 20 s, 80 s, five minutes, 20 minutes, and then every hour. One that refuses an event will
/// not take it soon: it is tried after five minutes, twice as long each time, and then every six hours. A fifth is added or taken
/// away at random, so that events which failed together do not come together.
enum HostEventWaits {
  private static let base = Duration.seconds(5)
  private static let longest = Duration.seconds(3600)
  private static let refusedBase = Duration.seconds(300)
  private static let refusedLongest = Duration.seconds(6 * 3600)
  /// The longest wait that a host may ask for.
  static let askedLongest = Duration.seconds(24 * 3600)
  /// Statuses below 500 that another time may change: request timeout, too early, too many requests.
  private static let passing: Set<Int> = [408, 425, 429]

  /// What an answer means for an event.
  /// - Parameters:
  ///   - retryAfter, date: the answer's fields.
  ///   - attempt: attempts so far, from 1.
  ///   - now: Unix seconds.
  ///   - chance: from 0.8 to 1.2.
  static func judge(
    status: Int, retryAfter: String?, date: String?, attempt: Int, now: Int64, chance: Double
  ) -> HostEventAnswer {
    if (200..<300).contains(status) { return HostEventAnswer(status: status) }
    let isRefused = (300..<500).contains(status) && !passing.contains(status)
    let asked = RetryAfter.wait(retryAfter, date: date, atMost: askedLongest, now: now)
    let wait = wait(attempt: attempt, isRefused: isRefused, chance: chance)
    return HostEventAnswer(status: status, fault: "status \(status)", nextTry: max(wait, asked ?? .zero))
  }

  /// What an attempt without an answer means.
  static func judge(_ error: HTTPTransferError, attempt: Int, chance: Double) -> HostEventAnswer {
    HostEventAnswer(
      status: nil, fault: error.debugDescription, nextTry: wait(attempt: attempt, isRefused: false, chance: chance))
  }

  static func wait(attempt: Int, isRefused: Bool, chance: Double) -> Duration {
    let (base, factor, longest) = isRefused ? (refusedBase, 2, refusedLongest) : (base, 4, longest)
    // Beyond 16 doublings either has reached its longest.
    let wait = (1..<max(1, min(attempt, 16))).reduce(base) { wait, _ in min(wait * factor, longest) }
    return wait * chance
  }
}

extension HostEvent {
  /// The event as JSON, in the form that Standard Webhooks recommends: `type`, `timestamp` and `data`. It has ids, names and
  /// times, and no text of a message. Members without a value are left out; the same event is the same bytes.
  var body: [UInt8] {
    let data: PayloadObject = [
      "channel": .text(channel), "device": .text(device), "kind": .text(kind), "push_id": .text(pushID?.lowercased),
      "reason": .text(reason), "sent_at": .instant(sentAt), "subject_id": .text(subjectID?.text),
      "user_id": .text(userID.text),
    ]
    return (["data": .object(data), "timestamp": .instant(occurredAt), "type": .text(type)] as PayloadObject).encoded()
  }
}

/// Signs webhooks that the service sends, as Standard Webhooks asks and ``WebhookAuthentication`` verifies.
package struct WebhookSigner: Sendable {
  private let keys: [HMACSHA256]

  /// - Parameter keys: each makes a signature, so that the receiver may know either while one replaces another.
  package init(keys: [[UInt8]]) {
    self.keys = keys.map { HMACSHA256(key: $0) }
  }

  /// `webhook-id`, `webhook-timestamp` and `webhook-signature` for a content.
  /// - Parameters:
  ///   - id: the webhook's, which has no full stop.
  ///   - timestamp: when this attempt is made, Unix seconds.
  package func fields(id: String, timestamp: Int64, body: [UInt8]) -> HTTPFields {
    let signed = Array("\(id).\(timestamp).".utf8) + body
    let signatures = keys.map { "v1," + Data($0.code(for: signed).bytes).base64EncodedString() }
    return [
      .webhookID: id, .webhookTimestamp: String(timestamp), .webhookSignature: signatures.joined(separator: " "),
    ]
  }
}

extension HTTPField.Name {
  // Our own constants, so making them cannot fail.

  package static let webhookID = Self("webhook-id")!
  /// When it was sent, Unix seconds.
  package static let webhookTimestamp = Self("webhook-timestamp")!
  package static let webhookSignature = Self("webhook-signature")!
}
