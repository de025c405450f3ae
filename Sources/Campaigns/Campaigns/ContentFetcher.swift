internal import FoundationEssentials
internal import HTTPTransfers
internal import HTTPTypes
package import Logging
package import Postgres
internal import PushRules
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
  /// - Returns: the documents that have changed, or could not be used before: rows that are not pushed yet are rendered anew.
  package func refresh(
    _ rows: [Occasion], of campaign: String, at url: String, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [ContentKey] {
    guard !rows.isEmpty else { return [] }
    let flags = try await store.configFlags(on: reactor)
    guard flags.mode == .onlineFirst else { return [] }
    guard let source = ContentSource(url) else {
      logger.error("a campaign's content URL cannot be used", metadata: ["campaign": "\(campaign)"])
      return []
    }
    let round = FetchRound(campaign, source, timeToLive: flags.timeToLive)
    let until = Reactor.now + configuration.roundLimit.clampedNanoseconds
    repeat {
      let due = try await store.claimContents(
        for: rows, of: campaign, at: url, isPerUser: source.isPerUser, lead: flags.lead,
        contentsMax: configuration.fetchesMax, on: reactor)
      if due.isEmpty { break }
      try await fetch(due, in: round, on: reactor)
    } while Reactor.now < until
    if !round.failures.isEmpty {
      logger.warning(
        "content was not fetched, and stored content serves while it is fresh",
        metadata: ["campaign": "\(campaign)", "codes": "\(round.failureText)"])
    }
    return round.changed
  }

  /// Cancels all fetches and closes all connections. Idempotent.
  package func close(on reactor: isolated Reactor) {
    transfers.close(on: reactor)
  }

  /// Makes fetches that were claimed together.
  private func fetch(
    _ due: [DueContent], in round: FetchRound, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    _ = await WorkBatch(due, until: .max).run(workers: due.count, on: reactor) {
      await self.fetch($0, in: round, on: reactor)
    }
    if let error = round.error { throw error }
  }

  private func fetch(_ due: DueContent, in round: FetchRound, on reactor: isolated Reactor) async {
    let answer = await answer(to: due, from: round.source, on: reactor)
    metrics.countCode(answer.code.rawValue, of: round.campaign)
    do throws(PostgresError) {
      try await record(answer, to: due, in: round, on: reactor)
    } catch {
      round.error = error
    }
  }

  private func answer(
    to due: DueContent, from source: ContentSource, on reactor: isolated Reactor
  ) async -> ContentAnswer {
    guard let url = source.url(for: due.key.userID) else { return .failure(.unusableURL) }
    var fields: HTTPFields = [.accept: "application/json"]
    fields[.ifNoneMatch] = due.etag
    fields[.authorization] = configuration.authorization?.text
    do throws(HTTPTransferError) {
      let request = HTTPTransferRequest(
        url: url, fields: fields, deadline: configuration.limit, bodyBytesMax: configuration.documentBytesMax)
      return ContentAnswer(try await transfers.send(request, on: reactor), isConditional: due.etag != nil)
    } catch {
      return ContentAnswer(error)
    }
  }

  private func record(
    _ answer: ContentAnswer, to due: DueContent, in round: FetchRound, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    let isChanged: Bool
    switch answer {
    case .document(let text, let etag):
      isChanged = try await store.store(
        text, etag: etag, from: due, of: round.campaign, at: round.source.url, timeToLive: round.timeToLive, on: reactor
      )
    case .unchanged:
      isChanged = try await store.confirm(due, of: round.campaign, timeToLive: round.timeToLive, on: reactor)
    case .failure(let code):
      isChanged = false
      round.failures[code, default: 0] += 1
      try await store.fail(due, of: round.campaign, code: code.rawValue, on: reactor)
    }
    if isChanged { round.changed.append(due.key) }
  }
}

/// The fetches of one call, and what they have brought.
private final class FetchRound {
  let campaign: String
  let source: ContentSource
  let timeToLive: Duration
  var changed: [ContentKey] = []
  var failures: [ContentCode: Int] = [:]
  /// The last failure to record an answer.
  var error: PostgresError?

  init(_ campaign: String, _ source: ContentSource, timeToLive: Duration) {
    self.campaign = campaign
    self.source = source
    self.timeToLive = timeToLive
  }

  /// How often each code occurred.
  var failureText: String {
    failures.map { "\($0.key.rawValue) \($0.value)" }.sorted().joined(separator: ", ")
  }
}

extension PushDatabase {
  /// What is stored for rows of a campaign. Nothing is fetched.
  /// - Parameter url: the campaign's, in which `{user_id}` may be a part of the path or the query.
  /// - Returns: an outcome for each row, in their order.
  func storedContents(
    for rows: [Occasion], of campaign: String, at url: String, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [ContentOutcome] {
    try await contents(for: rows, of: campaign, isPerUser: ContentSource.isPerUser(url), on: reactor)
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
struct ContentSource: Equatable {
  private static let token = "{user_id}"

  /// As the definition has it.
  let url: String

  /// Nil for a URL that cannot be fetched: without a host, with a password, or with a user in the place of the host, who would
  /// choose where the credential goes.
  init?(_ url: String) {
    guard url.utf8.allSatisfy({ (0x21...0x7e).contains($0) }), let scheme = url.firstRange(of: "://"),
      ["https", "http"].contains(url[..<scheme.lowerBound].lowercased())
    else { return nil }
    let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
    guard !authority.isEmpty, !authority.contains(where: { "{}@%\\".contains($0) }) else { return nil }
    self.url = url
  }

  var isPerUser: Bool { Self.isPerUser(url) }

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
    var encoded = ""
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        encoded += byte < 16 ? "%0" : "%"
        encoded += String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
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
}

enum ContentAnswer: Equatable {
  /// A document, as JSON with sorted members, and its version.
  case document(String, etag: String?)
  case unchanged
  /// The stored document stays.
  case failure(ContentCode)

  /// The longest version that is kept, in bytes. Those of common servers have some 40.
  static let etagBytesMax = 512

  /// - Parameter isConditional: whether the request named a version; otherwise 304 says nothing.
  init(_ response: HTTPTransferResponse, isConditional: Bool) {
    switch response.status.code {
    case 200:
      guard let document = ContentDocument(response.body) else {
        self = .failure(.malformed)
        return
      }
      self = .document(document.text, etag: response.fields[.eTag].flatMap(Self.usable))
    case 304 where isConditional: self = .unchanged
    default: self = .failure(.status)
    }
  }

  init(_ error: HTTPTransferError) {
    let code: ContentCode =
      switch error.code {
      case .timedOut: .timedOut
      case .tooLarge: .tooLarge
      case .forbidden: .forbidden
      case .invalidRequest: .unusableURL
      default: .unreachable
      }
    self = .failure(code)
  }

  var code: ContentCode {
    switch self {
    case .document: .stored
    case .unchanged: .notModified
    case .failure(let code): code
    }
  }

  /// Visible ASCII, which is sent back as it is.
  private static func usable(_ etag: String) -> String? {
    (1...etagBytesMax).contains(etag.utf8.count) && etag.utf8.allSatisfy { (0x20...0x7e).contains($0) } ? etag : nil
  }
}

/// A JSON object whose members are all strings.
struct ContentDocument {
  /// The same object with sorted members, no longer than the answer.
  let text: String

  init?(_ body: [UInt8]) {
    guard Self.endsAsObject(body), let values = try? JSONDecoder().decode([String: String].self, from: Data(body)),
      // PostgreSQL's texts have no such character.
      !values.contains(where: { $0.key.utf8.contains(0) || $0.value.utf8.contains(0) })
    else { return nil }
    text = JSONText.of(values)
  }

  /// Whether a string or nothing is before the last brace: the decoder takes a comma there, and other encodings than UTF-8, and a byte order mark.
  private static func endsAsObject(_ body: [UInt8]) -> Bool {
    let white: Set<UInt8> = [0x20, 0x09, 0x0a, 0x0d]
    var rest = body[...]
    func takeLast() -> UInt8? {
      while let last = rest.last, white.contains(last) { rest.removeLast() }
      return rest.popLast()
    }
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    guard String(validating: body, as: UTF8.self) != nil, !body.starts(with: mark), takeLast() == UInt8(ascii: "}")
    else { return false }
    let last = takeLast()
    return last == UInt8(ascii: "\"") || last == UInt8(ascii: "{")
  }
}
