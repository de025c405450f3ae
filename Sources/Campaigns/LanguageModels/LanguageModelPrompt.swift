/// What a model is asked. Its text is personal: it appears in no description, log or error of this module.
public struct LanguageModelPrompt: Sendable, Equatable {
  /// How the model is to write: the system prompt, which weighs more than the material. Empty for none.
  public var instructions: String

  /// What it is to write about: the one message of the user. Never empty, or the provider refuses the request.
  public var material: String

  /// Describes a prompt.
  public init(instructions: String, material: String) {
    self.instructions = instructions
    self.material = material
  }
}

extension LanguageModelPrompt: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// How long the two parts are, in bytes of UTF-8.
  public var description: String {
    "a prompt of \(instructions.utf8.count) and \(material.utf8.count) bytes"
  }

  /// The same as the description.
  public var debugDescription: String { description }

  /// Without children, so that `dump` shows nothing either.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
