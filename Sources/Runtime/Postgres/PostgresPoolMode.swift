/// Whose the sessions with the server are: ours alone, or lent by a pooler.
public enum PostgresPoolMode: Sendable {
  /// Ours, as long as the connection lasts: settings and prepared statements are sent once, and LISTEN and advisory locks
  /// work. A pooler that lends a session for as long as we are connected is the same.
  case session

  /// Another one for each transaction, as PgBouncer lends them in transaction mode. Nothing may be left in a session:
  /// each statement is parsed anew, and its settings come before it in its own transaction. LISTEN and session locks
  /// cannot work.
  case transaction
}

extension PostgresConfiguration {
  /// The settings as libpq's `options`: `-c name=value`, blanks and backslashes escaped; nil where there is no session to
  /// keep them.
  ///
  /// Sent with the connection request, they cost no round trip. PgBouncer refuses them unless told to ignore them.
  var sessionOptions: String? {
    guard poolMode == .session else { return nil }
    return sessionSettings.map { "-c \($0.name)=\(escaped($0.value))" }.joined(separator: " ")
  }

  /// A query that makes the settings for the transaction it is in, and for nobody after it.
  var transactionSettings: String {
    "select "
      + sessionSettings.map { "set_config(\(quoted($0.name)), \(quoted($0.value)), true)" }
      .joined(separator: ", ")
  }

  private func escaped(_ value: String) -> String {
    value.reduce(into: "") { text, character in
      if character == "\\" || character.isWhitespace { text.append("\\") }
      text.append(character)
    }
  }

  /// As an SQL literal. The form with `E` reads backslashes alike whatever `standard_conforming_strings` is.
  private func quoted(_ text: String) -> String {
    text.reduce(into: "E'") { literal, character in
      if character == "\\" || character == "'" { literal.append(character) }
      literal.append(character)
    } + "'"
  }
}
