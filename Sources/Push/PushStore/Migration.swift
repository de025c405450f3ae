internal import PushRules

/// One file of `db/migrations`, built into the program.
package struct Migration: Sendable {
  /// The number in front of the file's name; versions are applied in order.
  package let version: Int

  /// The file's name without its ending, e.g. `0001_baseline`.
  package let name: String

  let sql: String

  init(name: String, text: String) {
    guard let version = Int(name.prefix(4)) else { preconditionFailure("\(name) does not begin with a version") }
    self.version = version
    self.name = name
    sql = text
  }

  /// The same file for a database whose ids have these types.
  func written(with types: IDTypes) -> Migration { Migration(name: name, text: types.written(into: sql)) }

  /// The tables of the default host contract, for a database without an application.
  package static let hostTables = SQLFiles.host[0].text

  /// Every migration, in order.
  package static let all = SQLFiles.migrations.map(Migration.init)
}
