public import Logging
public import Postgres

extension PostgresError {
  /// What an operator has to know to mend a function of the host, without values: the failure with its SQLSTATE, the
  /// function that was running, and what it asked for in vain.
  public var logged: Logger.Metadata {
    var metadata: Logger.Metadata = ["error": "\(self)"]
    if let function { metadata["function"] = "\(function)" }
    if let missingObject { metadata["cause"] = "\(missingObject)" }
    return metadata
  }
}
