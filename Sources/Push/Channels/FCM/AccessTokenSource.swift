internal import Cryptography
internal import Glibc
package import HTTPTransfers
internal import HTTPTypes
internal import PushRules
package import Reactors
internal import Synchronization

/// The one access token of a service account in this process, shared by every reactor.
///
/// The first caller exchanges a signed assertion for it (RFC 7523), and the others wait. A new one is fetched 5
/// minutes before the end of the old one, which pushes use meanwhile.
package final class AccessTokenSource: Sendable {
  /// The longest time of an exchange. Google takes 0.2 to 0.4 s.
  private static let exchangeLimit = Duration.seconds(10)

  package let account: ServiceAccount

  private let clock: AccessTokenClock
  private let state: Mutex<State>

  private struct State {
    var machine: AccessTokenStateMachine
    /// Given when the exchange under way has ended.
    var waiting: [ReactorBound<Signal>] = []
  }

  /// A source without a token. The first push fetches one.
  package convenience init(_ account: ServiceAccount) {
    self.init(account, clock: AccessTokenClock())
  }

  init(_ account: ServiceAccount, clock: AccessTokenClock) {
    self.account = account
    self.clock = clock
    state = Mutex(State(machine: AccessTokenStateMachine(exchangeLimit: Self.exchangeLimit)))
  }

  /// The current token; fetches one first if there is none.
  /// - Parameters:
  ///   - transfers: a client of this reactor, for an exchange that begins here.
  ///   - deadline: monotonic nanoseconds.
  /// - Throws: ``AccessTokenError``, also when the deadline passes first.
  package func token(
    using transfers: HTTPTransferClient, until deadline: UInt64, on reactor: isolated Reactor
  ) async throws(AccessTokenError) -> AccessToken {
    while true {
      let signal = Signal()
      switch ask(ReactorBound(signal, on: reactor)) {
      case .use(let token): return token
      case .useAndRenew(let token):
        reactor.start { await self.exchange(using: transfers, on: reactor) }
        return token
      case .refuse(let error): throw error
      case .exchange: reactor.start { await self.exchange(using: transfers, on: reactor) }
      case .wait: break
      }
      let limit = Duration.nanoseconds(Int64(clamping: deadline - min(Reactor.now, deadline)))
      guard await signal.wait(for: limit, on: reactor) else {
        throw AccessTokenError(.unavailable, "no_access_token_in_time", fault: .connection)
      }
    }
  }

  /// FCM has rejected a token. The next call of ``token(using:until:on:)`` returns another one.
  /// - Returns: false when the last rejection was less than a minute ago: the token stays, and the credentials are wrong.
  package func reject(_ token: AccessToken) -> Bool {
    state.withLock { $0.machine.reject(token, now: clock.now()) }
  }

  private func ask(_ signal: ReactorBound<Signal>) -> AccessTokenAction {
    state.withLock { state in
      let action = state.machine.ask(now: clock.now())
      if action == .wait || action == .exchange { state.waiting.append(signal) }
      return action
    }
  }

  private func exchange(using transfers: HTTPTransferClient, on reactor: isolated Reactor) async {
    let result: Result<AccessTokenAnswer, AccessTokenError>
    do throws(AccessTokenError) {
      result = .success(try await answer(using: transfers, on: reactor))
    } catch {
      result = .failure(error)
    }
    for signal in end(result) { signal.submit { $0.signal(on: $1) } }
  }

  /// - Returns: the callers that wait.
  private func end(_ result: Result<AccessTokenAnswer, AccessTokenError>) -> [ReactorBound<Signal>] {
    state.withLock { state in
      switch result {
      case .success(let answer): state.machine.succeed(answer, now: clock.now())
      case .failure(let error): state.machine.fail(error, now: clock.now(), draw: .random(in: 0..<1))
      }
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  private func answer(
    using transfers: HTTPTransferClient, on reactor: isolated Reactor
  ) async throws(AccessTokenError) -> AccessTokenAnswer {
    let request = try request()
    let response: HTTPTransferResponse
    do throws(HTTPTransferError) {
      response = try await transfers.send(request, on: reactor)
    } catch {
      throw AccessTokenError(error)
    }
    return try AccessTokenAnswer(status: response.status.code, fields: response.fields, body: response.body)
  }

  private func request() throws(AccessTokenError) -> HTTPTransferRequest {
    let assertion: String
    do throws(CryptographyError) {
      assertion = try account.assertion(issuedAt: clock.wallSeconds())
    } catch {
      throw AccessTokenError(.credentials, "signature_failed", error.description, fault: .configuration)
    }
    // An assertion consists of characters that a form does not escape.
    let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
    return HTTPTransferRequest(
      .post, url: account.tokenURI, fields: [.contentType: "application/x-www-form-urlencoded"],
      body: Array(form.utf8), deadline: Self.exchangeLimit, bodyBytesMax: AccessTokenAnswer.bytesMax)
  }
}

/// The two clocks of a source: tests move them.
struct AccessTokenClock: Sendable {
  /// Monotonic nanoseconds.
  var now: @Sendable () -> UInt64 = { Reactor.now }

  /// Unix seconds.
  var wallSeconds: @Sendable () -> Int64 = { Int64(time(nil)) }
}
