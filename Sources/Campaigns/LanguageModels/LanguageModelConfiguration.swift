public import HTTPTransfers

/// Which model a client asks, and how long and how often it does.
public struct LanguageModelConfiguration: Sendable {
  /// The model unless another is named: small and quick, as a push of two sentences needs.
  public static let modelDefault = "claude-haiku-4-5-20251001"

  /// Whose interface is spoken.
  public var provider: LanguageModelProvider

  /// Where the interface is: scheme, host, port and perhaps a path, such as `https://models.example.com/proxy`. Slashes
  /// at its end count for nothing. The provider's path is appended, whatever the base ends with: `/v1/messages` for
  /// ``LanguageModelProvider/anthropicMessages``, and `/chat/completions` for
  /// ``LanguageModelProvider/openAICompatible``, whose base therefore usually ends in `/v1`.
  public var baseURL: String

  /// The secret that the provider knows the caller by; nil sends none, for a server that asks for none.
  public var key: LanguageModelKey?

  /// The model's name at the provider.
  public var model = modelDefault

  /// Tokens a reply may have; the provider cuts it off there. 150: a title and two sentences as JSON are some 80.
  public var replyTokensMax = 150

  /// From the moment a call has its turn to the last byte of the answer, and anew for the retried call. 2 s: as
  /// long as the run that asks gives a user's push for its text.
  public var deadline = Duration.seconds(2)

  /// Calls at the same time, on one reactor; more wait for their turn. 5: as many as a run looks at together.
  public var callsMax = 5

  /// Calls that wait for their turn; beyond, they are refused. 100: twenty rounds of five, so that the last one has
  /// its turn after three minutes even if every call takes the nine seconds that it may, two deadlines and a wait.
  public var waitingMax = 100

  /// The longest wait a provider may ask for before the retry; asked for a longer one, the call fails. 5 s: four
  /// times the 1.2 s in which Anthropic's lowest limit, fifty requests a minute, lets one more through.
  public var retryWaitMax = Duration.seconds(5)

  /// Whose certificates are believed.
  public var trust = HTTPTransferTrust.system

  /// The standard configuration of a provider.
  /// - Parameter baseURL: nil for the provider's own.
  public init(_ provider: LanguageModelProvider, baseURL: String? = nil, key: LanguageModelKey? = nil) {
    self.provider = provider
    self.baseURL = baseURL ?? provider.standardBaseURL
    self.key = key
  }

  /// Where requests go.
  var url: String { base + provider.path }

  /// The base URL without slashes at its end.
  var base: String {
    var base = baseURL[...]
    while base.last == "/" { base.removeLast() }
    return String(base)
  }

  /// A transfer for each call that has its turn; no turns are waited for twice.
  var transfers: HTTPTransferConfiguration {
    var transfers = HTTPTransferConfiguration()
    transfers.transfersMax = callsMax
    transfers.trust = trust
    return transfers
  }
}
