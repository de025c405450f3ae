/// The subjects of runs, by their names.
public enum BenchSubject {
  /// This build, on a database with next to no history.
  public static let tacet = "tacet"
  /// Another build, on a database of its own with as little history.
  public static let against = "against"
  /// The reference of the APNs client.
  public static let h2load = "h2load"
  /// The reference of the HTTP server.
  public static let nginx = "nginx"
  /// The reference of what the database takes from a host, and of a client of it.
  public static let pgbench = "pgbench"
  /// This build on a database with ten million rows of history.
  public static let tenMillionRows = "rows-10m"
  /// The same with a million.
  public static let millionRows = "rows-1m"
  /// The same with a hundred thousand, of quick measurements.
  public static let hundredThousandRows = "rows-100k"

  /// Databases that have grown, each compared with `tacet`.
  static let grown: Set<String> = [tenMillionRows, millionRows, hundredThousandRows]

  /// Which of two subjects of a scenario stands above the line, if they are compared at all: a database that has grown
  /// above one that has not, and this build above everything else.
  static func ratio(of subject: String, in subjects: Set<String>) -> (above: String, below: String)? {
    guard subject != tacet, subjects.contains(tacet) else { return nil }
    return grown.contains(subject) ? (subject, tacet) : (tacet, subject)
  }
}
