package import Logging
package import Postgres

extension PostgresError {
  /// Whether the statement or its data is at fault: the server would refuse it again, and others may be taken.
  ///
  /// Not so: what the server lacks or is going through (classes 53 to 58, except for a statement that took too long or
  /// went beyond a limit of PostgreSQL, such as the depth of its stack), what other transactions did (40, 55), and the
  /// state of the session (08, 25, 26).
  package var blamesStatement: Bool {
    guard code == .server, let sqlState else { return code == .decoding || code == .invalidParameter }
    if sqlState == .queryCanceled { return true }
    return !["08", "25", "26", "40", "53", "55", "57", "58"].contains(String(sqlState.conditionClass))
  }

  /// Whether the server would refuse it however often it is tried. One that took too long may have waited for a lock of
  /// the host.
  package var isRefusal: Bool { blamesStatement && sqlState != .queryCanceled }

  /// Whether nothing is known of the statement, because the way to the server failed.
  package var concernsConnection: Bool {
    switch code {
    case .server, .decoding, .invalidParameter: false
    case .connectionLost, .timedOut, .deaf, .foreignDatabase, .notConnected, .tooManyPending, .invalidConfiguration:
      true
    }
  }
}

extension PostgresError {
  /// What an operator has to know to mend a function of the host, without values: the failure with its SQLSTATE, the
  /// function that was running, and what it asked for in vain.
  package var logged: Logger.Metadata {
    var metadata: Logger.Metadata = ["error": "\(self)"]
    if let function { metadata["function"] = "\(function)" }
    if let missingObject { metadata["cause"] = "\(missingObject)" }
    return metadata
  }
}
