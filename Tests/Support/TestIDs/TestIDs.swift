package import Foundation
package import PushRules
package import PushStore
internal import TestProcesses
package import TestRepository
package import Testing

extension IDTypes {
  /// The types of ids in the databases of this run: those that the variable `TEST_IDS` names, otherwise uuids.
  package static let tested = IDTypes(
    all: ProcessInfo.processInfo.environment["TEST_IDS"].map { name in
      guard let type = IDType(rawValue: name) else { preconditionFailure("TEST_IDS is uuid, bigint or text") }
      return type
    } ?? .uuid)
}

extension IDTypes {
  /// SQL of a test, which is written for uuids, with the ids of this run's type.
  package static func tested(_ sql: String) -> String { tested.messages.written(sql) }
}

extension IDTypes.IDType {
  /// SQL of a test, which is written for uuids, with ids of this type.
  package func written(_ sql: String) -> String {
    if self == .uuid { return sql }
    let new =
      self == .text
      ? "('user_' || gen_random_uuid())" : "(100000000000000000 + floor(random() * 800000000000000000))::bigint"
    return sql.replacing("gen_random_uuid()", with: "@new").replacing(/\buuid\b/, with: rawValue)
      .replacing("@new", with: new)
  }
}

extension IDTypes {
  /// A file of SQL that is written for uuids, with the ids of this run's type.
  package static func tested(_ file: URL) throws -> URL {
    if tested.messages == .uuid || file == Repository.install || file == Repository.hostTables { return file }
    return Repository.written(tested(try String(contentsOf: file, encoding: .utf8)))
  }
}

extension IDTypeWishes {
  /// The types of this run.
  package static let tested = IDTypeWishes(
    messages: IDTypes.tested.messages, conversations: IDTypes.tested.conversations, users: IDTypes.tested.users)
}

extension Repository {
  /// The tables of the default host contract, for psql.
  package static let hostTables = written(IDTypes.tested.written(into: Migration.hostTables))

  /// What makes a database with the host's tables ready, by psql.
  package static let install = written(Migrator.script(createsHostTables: false, ids: .tested))

  fileprivate static func written(_ script: String) -> URL {
    let file = FileManager.default.temporaryDirectory.appending(path: "tacet-\(UUID().uuidString).sql")
    do {
      try script.write(to: file, atomically: true, encoding: .utf8)
    } catch {
      preconditionFailure("a script cannot be written: \(error)")
    }
    TemporaryFiles.removeAtExit(file.path)
    return file
  }
}

extension HostID {
  /// An id that no other has, of the type of this run. The texts of a run's ids sort like the ids.
  package static func new() -> HostID {
    switch IDTypes.tested.messages {
    case .uuid: HostID(UUID())
    case .bigint: HostID(text: String(Int64.random(in: 100_000_000_000_000_000...999_999_999_999_999_999)))
    case .text: HostID(text: "user_" + UUID().uuidString.lowercased().filter { $0 != "-" }.prefix(22))
    }
  }
}

extension Trait where Self == ConditionTrait {
  /// The test is about what only databases of uuids have, such as upgrades and logins, or its SQL is written for uuids of
  /// Tacet's own.
  package static var uuidsOnly: Self { .enabled(if: IDTypes.tested == IDTypes(), "written for uuids") }
}
