package import HTTPTransfers
internal import HTTPTypes
package import PushRules
package import Reactors

/// Sends messages to Android devices over FCM's HTTP v1 interface, on one reactor.
package final class FCMClient {
  private let tokens: AccessTokenSource
  private let transfers: HTTPTransferClient
  private let url: String

  /// Makes a client without a connection. Use all other members on the same reactor.
  /// - Parameter tokens: the tokens of the project's account; shared by the clients of all reactors.
  package init(
    _ tokens: AccessTokenSource, _ configuration: FCMConfiguration = FCMConfiguration(), on reactor: isolated Reactor
  ) {
    self.tokens = tokens
    transfers = HTTPTransferClient(configuration.transfers, on: reactor)
    // One place is for the exchange of an access token.
    messagesMax = configuration.transfers.transfersMax - 1
    url = "\(configuration.baseURL)/v1/projects/\(tokens.account.projectIdentifier)/messages:send"
  }

  package var projectIdentifier: String { tokens.account.projectIdentifier }

  /// Messages that may be in flight.
  package let messagesMax: Int

  /// Messages that are sent or wait for their turn, and the exchange of an access token.
  package var pendingCount: Int { transfers.pendingCount }

  /// Sends a message and waits for the answer.
  ///
  /// Waits for an access token first, if there is none. Resends once with a new token when FCM rejects the token, which
  /// proves that it did not take the message. FCM has no deduplication: a resend after an attempt without an answer may
  /// show a message twice, unless it has a ``FCMMessage/tag``. libcurl also resends by itself when a kept connection
  /// ends before the first byte of the answer.
  /// - Parameter deadline: when waiting ends, in monotonic nanoseconds. Google wants at least 10 s for an answer.
  package func send(
    _ message: FCMMessage, until deadline: UInt64, on reactor: isolated Reactor
  ) async -> DeliveryAttempt {
    await send(message, isTrial: false, until: deadline, on: reactor)
  }

  /// Checks the service account, the project and a token: FCM makes all its checks and delivers nothing.
  /// - Returns: `accepted` when a push to the token would be accepted now.
  package func validate(
    _ token: String, until deadline: UInt64, on reactor: isolated Reactor
  ) async -> DeliveryAttempt {
    var message = FCMMessage(token: token)
    message.title = "Trial"
    return await send(message, isTrial: true, until: deadline, on: reactor)
  }

  /// Waits until no message is left. False when the limit passed first.
  package func drain(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    await transfers.drain(within: limit, on: reactor)
  }

  /// Ends all attempts and closes all connections. Closing twice does nothing.
  package func close(on reactor: isolated Reactor) {
    transfers.close(on: reactor)
  }
}

extension FCMClient {
  private func send(
    _ message: FCMMessage, isTrial: Bool, until deadline: UInt64, on reactor: isolated Reactor
  ) async -> DeliveryAttempt {
    let content: [UInt8]
    do throws(FCMMessageError) {
      content = try message.encoded(isTrial: isTrial)
    } catch {
      return DeliveryAttempt(.fixRequest, reason: error.code.rawValue)
    }
    do throws(AccessTokenError) {
      return try await send(content, until: deadline, on: reactor)
    } catch {
      return error.attempt
    }
  }

  private func send(
    _ content: [UInt8], until deadline: UInt64, on reactor: isolated Reactor
  ) async throws(AccessTokenError) -> DeliveryAttempt {
    let token = try await tokens.token(using: transfers, until: deadline, on: reactor)
    var attempt = await attempt(content, token, until: deadline, on: reactor)
    if attempt.disposition == .refreshProviderToken, tokens.reject(token) {
      let other = try await tokens.token(using: transfers, until: deadline, on: reactor)
      attempt = await self.attempt(content, other, until: deadline, on: reactor)
    }
    if attempt.disposition == .refreshProviderToken {
      attempt.disposition = .fixCredentials
      attempt.fault = .configuration
    }
    return attempt
  }

  private func attempt(
    _ content: [UInt8], _ token: AccessToken, until deadline: UInt64, on reactor: isolated Reactor
  ) async -> DeliveryAttempt {
    let request = HTTPTransferRequest(
      .post, url: url, fields: [.authorization: token.authorization, .contentType: "application/json"], body: content,
      deadline: .nanoseconds(Int64(clamping: deadline - min(Reactor.now, deadline))),
      bodyBytesMax: FCMRefusal.bytesMax)
    do throws(HTTPTransferError) {
      let response = try await transfers.send(request, on: reactor)
      return FCMAnswer.attempt(status: response.status.code, fields: response.fields, body: response.body)
    } catch {
      return Self.attempt(without: error)
    }
  }

  /// The end of an attempt without an answer. After most of these FCM may have taken the message.
  private static func attempt(without error: HTTPTransferError) -> DeliveryAttempt {
    switch error.code {
    case .invalidRequest: DeliveryAttempt(.fixRequest, reason: error.code.word)
    case .tooManyWaiting, .cancelled, .closed:
      DeliveryAttempt(.retryLater(minimumWait: .zero), reason: error.code.word)
    default:
      DeliveryAttempt(
        .retryLater(minimumWait: FCMAnswer.serviceWait), reason: error.code.word, fault: .connection)
    }
  }
}

package struct FCMConfiguration: Equatable, Sendable {
  /// The scheme and host of FCM, without a slash at the end.
  package let baseURL: String

  /// The settings of the HTTP client. By default only this machine is reached without TLS.
  package var transfers: HTTPTransferConfiguration

  /// Google's service.
  package init() {
    self.init(checked: "https://fcm.googleapis.com")
  }

  /// Another service, for tests.
  /// - Parameter baseURL: `https`, or `http` on a loopback address.
  /// - Returns: nil for any other URL.
  package init?(baseURL: String) {
    guard let url = EndpointURL(baseURL), !url.text.contains("?"), !url.text.contains("#") else { return nil }
    self.init(checked: url.text.hasSuffix("/") ? String(url.text.dropLast()) : url.text)
  }

  /// The same, trusting only these authorities.
  /// - Parameter certificates: PEM text.
  package func trusting(_ certificates: String) -> FCMConfiguration {
    var configuration = self
    configuration.transfers.trust = .only(certificates)
    return configuration
  }

  private init(checked baseURL: String) {
    self.baseURL = baseURL
    transfers = HTTPTransferConfiguration()
    transfers.reach = HTTPTransferReach(includesPlainHTTP: false)
    // FCM allows 100 streams on a connection. With an answer after 100 ms: 4,000 messages a second.
    transfers.transfersMax = 401
    transfers.waitingMax = 0
    transfers.multiplexes = true
    transfers.connectionsPerHostMax = 5
    transfers.addressesLifetime = .seconds(30)
  }
}
