public import HTTPTransfers
internal import HTTPTypes
public import Reactors

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

/// Whose HTTP interface a model is asked over.
public enum LanguageModelProvider: String, Sendable, CaseIterable {
  /// Anthropic's Messages. Source: docs.claude.com, "Messages".
  case anthropicMessages = "anthropic"
  /// OpenAI's chat completions, which many servers offer too. Source: platform.openai.com, "Chat Completions".
  case openAICompatible = "openai"

  /// Where the provider itself serves: what a base URL is when none is named.
  public var standardBaseURL: String {
    switch self {
    case .anthropicMessages: "https://api.anthropic.com"
    case .openAICompatible: "https://api.openai.com/v1"
    }
  }

  /// What follows the base URL. OpenAI's libraries count the version to the base, Anthropic's do not.
  var path: String {
    switch self {
    case .anthropicMessages: "/v1/messages"
    case .openAICompatible: "/chat/completions"
    }
  }

  /// Where the models are listed.
  var modelsPath: String {
    switch self {
    case .anthropicMessages: "/v1/models"
    case .openAICompatible: "/models"
    }
  }

  /// How the provider is spoken to.
  var dialect: any ModelDialect.Type {
    switch self {
    case .anthropicMessages: MessagesDialect.self
    case .openAICompatible: ChatCompletionsDialect.self
    }
  }
}

/// A provider's key. No description of it, and of nothing that holds it, shows what it is.
public struct LanguageModelKey: Sendable, Equatable {
  /// What stands in the request.
  let text: String

  /// - Parameter text: as the provider has issued it, without white space around it.
  public init(_ text: String) {
    self.text = text
  }
}

extension LanguageModelKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The same for all keys.
  public var description: String { "(secret)" }

  /// The same for all keys.
  public var debugDescription: String { description }

  /// Without children, so that `dump` shows nothing either.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension LanguageModelConfiguration {
  /// More than any provider's list of models has on a page.
  private static let listBytesMax = 1024 * 1024

  /// Asks for the provider's list of models, which costs nothing and needs the key.
  /// - Returns: the answer's status.
  /// - Throws: when there is no answer.
  public func statusOfModels(on reactor: isolated Reactor) async throws(LanguageModelError) -> Int {
    let client = HTTPTransferClient(transfers, on: reactor)
    defer { client.close(on: reactor) }
    do throws(HTTPTransferError) {
      let request = HTTPTransferRequest(
        url: base + provider.modelsPath, fields: provider.dialect.fields(key: key), deadline: deadline,
        bodyBytesMax: Self.listBytesMax)
      return try await client.send(request, on: reactor).status.code
    } catch {
      throw LanguageModelError(error)
    }
  }
}
