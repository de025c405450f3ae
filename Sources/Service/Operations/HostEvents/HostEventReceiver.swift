internal import FoundationEssentials
internal import HTTPTransfers
internal import HTTPTypes
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
  package func probe(within limit: Duration, on reactor: isolated Reactor) async -> Result<Int, HostEventFault> {
    do throws(HTTPTransferError) {
      let request = HTTPTransferRequest(url: configuration.url, deadline: limit, bodyBytesMax: 1 << 20)
      return .success(try await transfers.send(request, on: reactor).status.code)
    } catch {
      return .failure(HostEventFault(description: error.debugDescription))
    }
  }

  /// Ends what is under way.
  package func close(on reactor: isolated Reactor) { transfers.close(on: reactor) }
}

/// Why the receiver did not answer.
package struct HostEventFault: Error, Equatable, CustomStringConvertible {
  /// In a line, without a secret.
  package let description: String

  package init(description: String) {
    self.description = description
  }
}
