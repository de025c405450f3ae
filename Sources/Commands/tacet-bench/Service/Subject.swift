import ArgumentParser

/// `NAME=PROGRAM,CONNINFO`: a build of the service, and a database that its own program has migrated.
struct Subject: ExpressibleByArgument, Sendable, Equatable {
  /// What its figures are reported under.
  let name: String
  /// The path of `tacet`.
  let program: String
  /// libpq's connection string, as the owner of the tables; it may hold commas and equals signs.
  let conninfo: String

  init?(argument: String) {
    guard let named = NamedValue(argument: argument), let comma = named.value.firstIndex(of: ",") else { return nil }
    name = named.name
    program = String(named.value[..<comma])
    conninfo = String(named.value[named.value.index(after: comma)...])
    guard !program.isEmpty, !conninfo.isEmpty else { return nil }
  }
}

/// `NAME=VALUE`, cut at the first equals sign; both have at least one character.
struct NamedValue: ExpressibleByArgument, Sendable, Equatable {
  let name: String
  let value: String

  init?(argument: String) {
    guard let sign = argument.firstIndex(of: "=") else { return nil }
    name = String(argument[..<sign])
    value = String(argument[argument.index(after: sign)...])
    guard !name.isEmpty, !value.isEmpty else { return nil }
  }
}
