internal import FoundationEssentials
internal import HTTPTransfers
internal import HTTPTypes
package import Logging
package import Postgres
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
  package func refresh(
    _ rows: [Occasion], of campaign: String, at url: String, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    guard !rows.isEmpty else { return }
    let flags = try await store.configFlags(on: reactor)
    guard flags.mode == .onlineFirst else { return }
    guard let source = ContentSource(url) else {
      logger.error("a campaign's content URL cannot be used", metadata: ["campaign": "\(campaign)"])
      return
    }
    var failures: [ContentCode: Int] = [:]
    let until = Reactor.now + configuration.roundLimit.clampedNanoseconds
    repeat {
      let due = try await store.claimContents(
        for: rows, of: campaign, at: url, isPerUser: ContentSource.isPerUser(url), lead: flags.lead,
        contentsMax: configuration.fetchesMax, on: reactor)
      if due.isEmpty { break }
      var storeError: PostgresError?
      _ = await WorkBatch(due, until: .max).run(workers: due.count, on: reactor) { due in
        let answer = await self.answer(to: due, from: source, on: reactor)
        self.metrics.countCode(answer.code.rawValue, of: campaign)
        if answer.code.isFailure { failures[answer.code, default: 0] += 1 }
        do throws(PostgresError) {
          try await self.record(answer, to: due, of: campaign, at: url, timeToLive: flags.timeToLive, on: reactor)
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
  package func close(on reactor: isolated Reactor) {
    transfers.close(on: reactor)
  }

  private func answer(
    to due: DueContent, from source: ContentSource, on reactor: isolated Reactor
  ) async -> ContentAnswer {
    guard let url = source.url(for: due.key.userID) else { return ContentAnswer(.unusableURL) }
    var fields: HTTPFields = [.accept: "application/json"]
    fields[.ifNoneMatch] = due.etag
    fields[.authorization] = configuration.authorization?.text
    do throws(HTTPTransferError) {
      let request = HTTPTransferRequest(
        url: url, fields: fields, deadline: configuration.limit, bodyBytesMax: configuration.documentBytesMax)
      return ContentAnswer(try await transfers.send(request, on: reactor), isConditional: due.etag != nil)
    } catch {
      return ContentAnswer(ContentCode(error))
    }
  }

  private func record(
    _ answer: ContentAnswer, to due: DueContent, of campaign: String, at url: String, timeToLive: Duration,
    on reactor: isolated Reactor
  ) async throws(PostgresError) {
    if let document = answer.document {
      try await store.store(
        document, etag: answer.etag, from: due, of: campaign, at: url, timeToLive: timeToLive, on: reactor)
    } else if answer.code == .notModified {
      try await store.confirm(due, of: campaign, timeToLive: timeToLive, on: reactor)
    } else {
      try await store.fail(due, of: campaign, code: answer.code.rawValue, on: reactor)
    }
  }
}

/// How documents of slot campaigns are fetched.
package struct ContentConfiguration: Sendable {
  /// The value of the Authorization field of each request; nil for none.
  package var authorization: Credential?

  /// Whether hosts at private, loopback and link-local addresses are reached. A definition could otherwise make the service read
  /// from the network that it is in, such as a cloud's metadata address.
  package var allowsPrivateAddresses = false

  /// From the start of a fetch to the last byte of the answer.
  package var limit = Duration.seconds(12)

  package var documentBytesMax = 64 * 1024

  /// Concurrent fetches. 16: the concurrent transfers of other clients.
  package var fetchesMax = 16

  /// How long fetches begin for one call of ``ContentFetcher/refresh(_:of:at:on:)``. 24 s: with the last fetch 36 s, which leaves the rest of a
  /// lease of a minute for rendering. A host that hangs holds up no other campaign for longer.
  package var roundLimit = Duration.seconds(24)

  package init() {}

  /// Plain HTTP is for hosts on this machine only, such as those of tests.
  var transfers: HTTPTransferConfiguration {
    var transfers = HTTPTransferConfiguration()
    transfers.transfersMax = fetchesMax
    transfers.reach = HTTPTransferReach(includesPrivateAddresses: allowsPrivateAddresses, includesPlainHTTP: false)
    return transfers
  }
}

/// A campaign's content URL: `https://host/path`, in which `{user_id}` may be a part of the path or the query.
struct ContentSource {
  private static let token = "{user_id}"

  private let url: String

  /// Nil for a URL that cannot be fetched: without a host, with a password, or with a user in the place of the host, who would
  /// choose where the credential goes.
  init?(_ url: String) {
    let form = /(?i)https?:\/\/[^\/?#{}@%\\]+([\/?#].*)?/
    guard url.isVisibleASCII(upTo: .max), url.wholeMatch(of: form) != nil else { return nil }
    self.url = url
  }

  static func isPerUser(_ url: String) -> Bool { url.contains(token) }

  /// What to fetch.
  /// - Returns: nil for an id that would be a step in the path.
  func url(for userID: HostID?) -> String? {
    guard let userID else { return url }
    guard ![".", ".."].contains(userID.text) else { return nil }
    return url.replacing(Self.token, with: userID.text.percentEncoded)
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

  /// After a failure the stored document stays.
  var isFailure: Bool { ![.stored, .notModified].contains(self) }
}

private struct ContentAnswer {
  /// The longest version that is kept, in bytes. Those of common servers have some 40.
  private static let etagBytesMax = 512

  let code: ContentCode
  /// JSON with sorted members, and its version, which is sent back as it is.
  private(set) var document: String?
  private(set) var etag: String?

  init(_ code: ContentCode) { self.code = code }

  /// - Parameter isConditional: whether the request named a version; otherwise 304 says nothing.
  init(_ response: HTTPTransferResponse, isConditional: Bool) {
    switch response.status.code {
    case 200:
      document = ContentDocument(response.body)?.text
      code = document == nil ? .malformed : .stored
      etag = response.fields[.eTag].flatMap { $0.isVisibleASCII(upTo: Self.etagBytesMax) ? $0 : nil }
    case 304 where isConditional: code = .notModified
    default: code = .status
    }
  }
}

/// A JSON object whose members are all strings.
struct ContentDocument {
  /// Any number of members, which the answer's size bounds.
  private static let limits = JSONLimits(depthMax: 1, elementsMax: .max)

  /// The same object with sorted members, no longer than the answer.
  let text: String

  init?(_ body: [UInt8]) {
    guard case .object(let object)? = try? PayloadValue(json: body, limits: Self.limits),
      object.members.allSatisfy({ $0.value.text != nil })
    else { return nil }
    text = String(decoding: object.encoded(), as: UTF8.self)
  }
}
