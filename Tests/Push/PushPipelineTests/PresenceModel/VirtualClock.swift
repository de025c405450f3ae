import Postgres
import Reactors

/// Time that a test lets pass in a database: all its timestamps are moved back instead.
///
/// Virtual microseconds since the clock was made. Between two shifts it runs with the database's own clock.
final class VirtualClock {
  private let rig: PipelineRig
  private let start: Int64
  private let shifting: String
  private var passed: Int64 = 0

  init(_ rig: PipelineRig, on reactor: isolated Reactor) async throws {
    self.rig = rig
    start = try await rig.value(Self.now, on: reactor)
    shifting = try await rig.value(Self.shift, on: reactor)
  }

  /// The database's time.
  func now(on reactor: isolated Reactor) async throws -> Int64 {
    virtual(try await rig.pool.query(Self.clock, on: reactor).one().decode(0))
  }

  /// What a database's timestamp, in microseconds since 1970, is here.
  func virtual(_ microseconds: Int64) -> Int64 { microseconds - start + passed }

  /// The other way round.
  func real(_ virtual: Int64) -> Int64 { virtual - passed + start }

  /// Lets the time pass until then; does nothing when it is later already. Nobody else may be writing.
  ///
  /// Triggers rest meanwhile: nothing happens to the rows but that they get older.
  func advance(to moment: Int64, on reactor: isolated Reactor) async throws {
    let pause = moment - (try await now(on: reactor))
    guard pause > 0 else { return }
    let updates = shifting.split(separator: "$").joined(separator: "\(pause)")
    try await rig.execute(
      "begin; set local session_replication_role = replica; \(updates) commit", on: reactor)
    passed += pause
  }

  private static let now = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint"

  private static let clock = PostgresStatement("virtual_clock", now)

  /// The updates that move every timestamp of every table; `$` stands for the microseconds. A partitioned table is
  /// moved as a whole, so that its rows may change their partition.
  private static let shift = """
    select string_agg(format('update %s set %s;', t.name, t.changes), ' ')
    from (
      select c.oid::regclass as name,
        string_agg(format('%I = %I - interval ''$ microseconds''', a.attname, a.attname), ', ') as changes
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace in ('public'::regnamespace, 'tacet'::regnamespace)
        and c.relkind in ('r', 'p') and not c.relispartition
        and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.atttypid = 'timestamptz'::regtype
      group by c.oid
    ) t
    """
}
