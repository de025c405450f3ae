/// What an operator has said about a host; nil leaves it to the guess.
package struct WiringAnswers: Equatable, Sendable {
  /// A table.
  package var messages: String?
  /// A table, or `everyone`.
  package var participants: String?
  /// A table, or `none`.
  package var users: String?
  /// A column with its table, or `own`.
  package var devices: String?
  /// Numbers of the kinds of messages that are pushed, or `all`.
  package var messageKinds: String?
  /// The service's role, where it is another than the tables' owner.
  package var role: String?

  package init() {}
}

/// What cannot be guessed, and is asked.
package struct WiringQuestion: Error, Equatable, Sendable {
  /// What it is about. The option of the command has the same name.
  package enum Subject: String, Equatable, Sendable, CaseIterable {
    case messages
    case participants
    case users
    case devices
    case messageKinds = "message-kinds"
  }

  package let subject: Subject
  package let text: String
  /// Answers that fit, the likeliest first. For some questions others are possible.
  package let choices: [String]

  package init(subject: Subject, text: String, choices: [String]) {
    self.subject = subject
    self.text = text
    self.choices = choices
  }

  /// Whether an answer need not be one of the choices, nor name a table.
  package var isOpen: Bool { subject == .messageKinds || choices.isEmpty }
}

extension WiringAnswers {
  package subscript(subject: WiringQuestion.Subject) -> String? {
    get {
      switch subject {
      case .messages: messages
      case .participants: participants
      case .users: users
      case .devices: devices
      case .messageKinds: messageKinds
      }
    }
    set {
      switch subject {
      case .messages: messages = newValue
      case .participants: participants = newValue
      case .users: users = newValue
      case .devices: devices = newValue
      case .messageKinds: messageKinds = newValue
      }
    }
  }
}

/// Why a host cannot be wired, or an answer cannot be used.
package struct WiringProblem: Error, Equatable, Sendable, CustomStringConvertible {
  /// A sentence or two, with what to do.
  package let description: String

  init(_ description: String) { self.description = description }
}
