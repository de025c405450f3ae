internal import HTTPTransfers
internal import HTTPTypes
package import Logging
internal import Postgres
package import PushRules
package import PushStore
package import Reactors

/// Fetches documents of slot campaigns from their hosts, on one reactor.
///
/// A document has one attempt a day, when the first slot that it is for is due within the lead, by whichever process claims it
/// first. There is no retry: until the next day the last document serves while it is fresh.
package final class ContentFetcher {
  private let store: PushDatabase
  private let configuration: ContentConfiguration
  private let transfers: HTTPTransferClient
  private let metrics: CampaignMetrics
  private let logger: Logger

  /// Makes a fetcher without connections. Use all other members on the same reactor.
  package init(
    store: PushDatabase, configuration: ContentConfiguration = ContentConfiguration(),
    metrics: CampaignMetrics = CampaignMetrics(), logger: Logger, on reactor: isolated Reactor
  ) {
    self.store = store
    self.configuration = configuration
    self.metrics = metrics
    self.logger = logger
    transfers = HTTPTransferClient(configuration.transfers, on: reactor)
  }

  /// Makes the fetches that are due. In the mode `offline_first` there are none.
  ///
  /// Begins fetches for at most ``ContentConfiguration/roundLimit``. What is left is claimed by the next call within the lead.
  func refresh(
    _ rows: [Occasion], of campaign: String, from source: ContentSource, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    let flags = try await store.configFlags(on: reactor)
    guard flags.mode == .onlineFirst else { return }
    var failures: [ContentCode: Int] = [:]
    let until = Reactor.now + configuration.roundLimit.clampedNanoseconds
    repeat {
      let due = try await store.claimContents(
        for: rows, of: campaign, at: source.url, isPerUser: source.isPerUser, lead: flags.lead,
        contentsMax: configuration.transfers.transfersMax, on: reactor)
      if due.isEmpty { break }
      var storeError: PostgresError?
      _ = await share(due, among: due.count, on: reactor) { due in
        do throws(PostgresError) {
          let code = try await self.fetch(due, from: source, of: campaign, timeToLive: flags.timeToLive, on: reactor)
          // After these the stored document stays.
          if code != .stored, code != .notModified { failures[code, default: 0] += 1 }
        } catch {
          storeError = error
        }
      }
      if let storeError { throw storeError }
    } while Reactor.now < until
    guard !failures.isEmpty else { return }
    let codes = failures.map { "\($0.key.rawValue) \($0.value)" }.sorted().joined(separator: ", ")
    logger.warning(
      "content was not fetched, and stored content serves while it is fresh",
      metadata: ["campaign": "\(campaign)", "codes": "\(codes)"])
  }

  /// Cancels all fetches and closes all connections. Idempotent.
  package func close(on reactor: isolated Reactor) { transfers.close(on: reactor) }

  /// Makes a fetch, and notes what has become of it.
  private func fetch(
    _ due: DueContent, from source: ContentSource, of campaign: String, timeToLive: Duration,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> ContentCode {
    let answer = await answer(to: due, from: source, on: reactor)
    metrics.countCode(answer.code.rawValue, of: campaign)
    switch answer.code {
    case .stored, .notModified:
      try await store.store(
        answer.document, etag: answer.etag, from: due, of: campaign, at: source.url, timeToLive: timeToLive, on: reactor
      )
    default: try await store.fail(due, of: campaign, code: answer.code.rawValue, on: reactor)
    }
    return answer.code
  }

  /// The longest version that is kept, in bytes. Those of common servers have some 40.
  private static let etagBytesMax = 512

  /// - Returns: of a document also its text, JSON with sorted members, and its version, which is sent back as it is.
  private func answer(
    to due: DueContent, from source: ContentSource, on reactor: isolated Reactor
  ) async -> (code: ContentCode, document: String?, etag: String?) {
    guard let url = source.url(for: due.key.userID) else { return (.unusableURL, nil, nil) }
    var fields: HTTPFields = [.accept: "application/json"]
    fields[.ifNoneMatch] = due.etag
    fields[.authorization] = configuration.authorization?.exposed
    let request = HTTPTransferRequest(
      url: url, fields: fields, deadline: configuration.limit, bodyBytesMax: configuration.documentBytesMax)
    do throws(HTTPTransferError) {
      let response = try await transfers.send(request, on: reactor)
      switch response.status.code {
      case 200:
        guard let document = ContentSource.document(response.body) else { return (.malformed, nil, nil) }
        let etag = response.fields[.eTag].flatMap { $0.isVisibleASCII(upTo: Self.etagBytesMax) ? $0 : nil }
        return (.stored, document, etag)
      // Where the request named no version, it says nothing.
      case 304 where due.etag != nil: return (.notModified, nil, nil)
      default: return (.status, nil, nil)
      }
    } catch {
      return (ContentCode(error), nil, nil)
    }
  }
}

/// How documents of slot campaigns are fetched.
package struct ContentConfiguration: Sendable {
  /// The value of the Authorization field of each request, such as `Bearer …`; nil for none.
  package var authorization: Secret<String>?

  /// Whether hosts at private, loopback and link-local addresses are reached. A definition could otherwise make the service read
  /// from the network that it is in, such as a cloud's metadata address.
  package var allowsPrivateAddresses = false

  /// From the start of a fetch to the last byte of the answer.
  package var limit = Duration.seconds(12)

  package var documentBytesMax = 64 * 1024

  /// How long fetches begin for one call of ``ContentFetcher/refresh(_:of:from:on:)``. 24 s: with the last fetch 36 s, which leaves the rest of a
  /// lease of a minute for rendering. A host that hangs holds up no other campaign for longer.
  package var roundLimit = Duration.seconds(24)

  package init() {}

  /// Plain HTTP is for hosts on this machine only, such as those of tests.
  var transfers: HTTPTransferConfiguration {
    var transfers = HTTPTransferConfiguration()
    transfers.reach = HTTPTransferReach(includesPrivateAddresses: allowsPrivateAddresses, includesPlainHTTP: false)
    return transfers
  }
}

/// A campaign's content URL: `https://host/path`, in which `{user_id}` may be a part of the path or the query.
struct ContentSource: Equatable, Sendable {
  static let bytesMax = 2_048
  private static let token = "{user_id}"

  let url: String

  /// Nil for a URL that cannot be fetched: without a host, with a password, or with a user in the place of the host, who would
  /// choose where the credential goes.
  init?(_ url: String) {
    let form = /https?:\/\/[^:\/?#{}@%\\][^\/?#{}@%\\]*([\/?#].*)?/
    guard url.isVisibleASCII(upTo: Self.bytesMax), url.wholeMatch(of: form) != nil,
      !url.replacing(Self.token, with: "").contains(where: "{}".contains)
    else { return nil }
    self.url = url
  }

  var isPerUser: Bool { url.contains(Self.token) }

  /// What to fetch.
  /// - Returns: nil for an id that would be a step in the path.
  func url(for userID: HostID?) -> String? {
    guard let userID else { return url }
    guard ![".", ".."].contains(userID.text) else { return nil }
    return url.replacing(Self.token, with: userID.text.percentEncoded)
  }

  /// What an answer says: a JSON object whose members are all strings, sorted, no longer than the answer; nil for anything else.
  static func document(_ body: [UInt8]) -> String? {
    // Any number of members, which the answer's size bounds.
    let limits = JSONLimits(depthMax: 1, elementsMax: .max)
    guard let object = (try? PayloadValue(json: body, limits: limits))?.object,
      object.members.allSatisfy({ $0.value.text != nil })
    else { return nil }
    return String(decoding: object.encoded(), as: UTF8.self)
  }
}

extension String {
  /// With every byte escaped that is not unreserved (RFC 3986 section 2.3).
  fileprivate var percentEncoded: String {
    utf8.reduce(into: "") { encoded, byte in
      switch Unicode.Scalar(byte) {
      case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~": encoded.append(Character(Unicode.Scalar(byte)))
      default: encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
  }
}

/// What became of a fetch, as metrics and `tacet.notif_contents` name it.
enum ContentCode: String {
  /// 200 with a document.
  case stored = "FETCH_STORED"
  case notModified = "ETAG_NOT_MODIFIED"
  /// No whole answer in time.
  case timedOut = "FETCH_TIMEOUT"
  /// Any other status, redirects included.
  case status = "FETCH_STATUS"
  case tooLarge = "FETCH_TOO_LARGE"
  /// Not a JSON object of strings.
  case malformed = "FETCH_MALFORMED"
  case forbidden = "FETCH_FORBIDDEN_ADDRESS"
  /// The URL of the campaign, or with this user's id, cannot be requested.
  case unusableURL = "FETCH_UNUSABLE_URL"
  /// No answer for another reason.
  case unreachable = "FETCH_UNREACHABLE"

  init(_ error: HTTPTransferError) {
    self =
      switch error.code {
      case .timedOut: .timedOut
      case .tooLarge: .tooLarge
      case .forbidden: .forbidden
      case .invalidRequest: .unusableURL
      default: .unreachable
      }
  }
}
