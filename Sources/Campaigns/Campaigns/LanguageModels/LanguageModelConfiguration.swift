package import HTTPTransfers
internal import HTTPTypes
package import Reactors

/// The model that a client calls, and the limits of its calls.
package struct LanguageModelConfiguration: Sendable {
  /// The default model: small and fast, which suffices for two sentences.
  package static let modelDefault = "claude-haiku-4-5-20251001"

  package var provider: LanguageModelProvider

  /// The address: scheme, host, port and perhaps a path, such as `https://models.example.com/proxy`. Trailing slashes
  /// are ignored. The provider's path is appended: `/v1/messages` for ``LanguageModelProvider/anthropicMessages``, and
  /// `/chat/completions` for ``LanguageModelProvider/openAICompatible``, whose base therefore usually ends in `/v1`.
  package var baseURL: String

  /// The caller's secret; nil for a server without authentication.
  package var key: LanguageModelKey?

  package var model = modelDefault

  /// The most tokens of a reply. The provider cuts longer ones. 150: a title and two sentences as JSON have about 80.
  package var replyTokensMax = 150

  /// From the start of a call's turn to the last byte of the response, and again for a retry. 2 s: the time that a run
  /// gives one text.
  package var deadline = Duration.seconds(2)

  /// Concurrent calls on one reactor; others wait. 5: the users that a run evaluates at the same time.
  package var callsMax = 5

  /// Waiting calls; further ones are refused. 100: twenty rounds of five. The last one starts after three minutes even
  /// if every call takes nine seconds, which is two deadlines and a wait.
  package var waitingMax = 100

  /// The longest wait before a retry; the call fails if the provider asks for more. 5 s: four times the 1.2 s between
  /// two requests at Anthropic's lowest limit, fifty a minute.
  package var retryWaitMax = Duration.seconds(5)

  package var trust = HTTPTransferTrust.system

  /// The standard configuration of a provider.
  /// - Parameter baseURL: nil for the provider's own.
  package init(_ provider: LanguageModelProvider, baseURL: String? = nil, key: LanguageModelKey? = nil) {
    self.provider = provider
    self.baseURL = baseURL ?? provider.standardBaseURL
    self.key = key
  }

  var url: String { base + provider.path }

  /// The base URL without trailing slashes.
  private var base: String {
    var base = baseURL[...]
    while base.last == "/" { base.removeLast() }
    return String(base)
  }

  /// One transfer for each active call, so that a call never waits twice.
  var transfers: HTTPTransferConfiguration {
    var transfers = HTTPTransferConfiguration()
    transfers.transfersMax = callsMax
    transfers.trust = trust
    return transfers
  }
}

/// A provider's HTTP interface.
package enum LanguageModelProvider: String, Sendable, CaseIterable {
  /// Anthropic's Messages. Source: docs.claude.com, "Messages".
  case anthropicMessages = "anthropic"
  /// OpenAI's chat completions, which many servers offer too. Source: platform.openai.com, "Chat Completions".
  case openAICompatible = "openai"

  package var standardBaseURL: String {
    switch self {
    case .anthropicMessages: "https://api.anthropic.com"
    case .openAICompatible: "https://api.openai.com/v1"
    }
  }

  /// The path after the base URL. OpenAI's libraries make the version part of the base; Anthropic's do not.
  var path: String {
    switch self {
    case .anthropicMessages: "/v1/messages"
    case .openAICompatible: "/chat/completions"
    }
  }

  var modelsPath: String {
    switch self {
    case .anthropicMessages: "/v1/models"
    case .openAICompatible: "/models"
    }
  }

  var dialect: any ModelDialect.Type {
    switch self {
    case .anthropicMessages: MessagesDialect.self
    case .openAICompatible: ChatCompletionsDialect.self
    }
  }
}

/// A provider's key. No description of it, or of a value that contains it, reveals it.
package struct LanguageModelKey: Sendable, Equatable {
  let text: String

  /// - Parameter text: the key as the provider issued it, trimmed.
  package init(_ text: String) {
    self.text = text
  }
}

extension LanguageModelKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "(secret)" }

  package var debugDescription: String { description }

  /// Without children, so that `dump` shows nothing either.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension LanguageModelConfiguration {
  /// Larger than one page of any provider's list.
  private static let listBytesMax = 1024 * 1024

  /// Requests the provider's list of models, which is free and needs the key.
  /// - Returns: the status of the response.
  /// - Throws: when there is no response.
  package func statusOfModels(on reactor: isolated Reactor) async throws(LanguageModelError) -> Int {
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
