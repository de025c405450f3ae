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
