import TestPostgres

@testable import TemporalReferences

/// PostgreSQL's offsets in one zone after another, over one session. For one thread.
final class PostgresClock {
  private let session: PsqlSession

  init(_ conninfo: String) throws {
    session = try PsqlSession(conninfo)
  }

  /// The offsets at some moments, in their order.
  func offsets(in zone: String, at moments: [Int64]) throws -> [Int] {
    let list = moments.map { "\($0)" }.joined(separator: ",")
    let text = try session.run(
      """
      set timezone = '\(zone)';
      select string_agg(date_part('timezone', to_timestamp(t))::text, ',' order by n)
      from unnest('{\(list)}'::bigint[]) with ordinality as m (t, n);
      """)
    return text.split(separator: ",").compactMap { Int($0) }
  }

  /// What is seen of a zone on a grid.
  func changes(in zone: String, on grid: ZoneGrid) throws -> [ZoneChange] {
    let text = try session.run(
      """
      set timezone = '\(zone)';
      select t, date_part('timezone', to_timestamp(t))
      from generate_series(\(grid.start), \(grid.end), \(grid.step)) as t
      where t = \(grid.start)
        or date_part('timezone', to_timestamp(t)) <> date_part('timezone', to_timestamp(t - \(grid.step)))
      order by t;
      """)
    return text.split(separator: "\n").compactMap { line in
      let numbers = line.split(separator: "|").compactMap { Int64($0) }
      return numbers.count == 2 ? ZoneChange(at: numbers[0], offset: Int(numbers[1])) : nil
    }
  }
}

/// Moments at equal distances, to look at a zone's offset.
struct ZoneGrid {
  let start: Int64
  let end: Int64
  let step: Int64

  /// The first moment of the grid with its offset, and those whose offset differs from the one before.
  func changes(of rules: ZoneRules) -> [ZoneChange] {
    var seen = [ZoneChange(at: start, offset: rules.offset(at: start))]
    for change in rules.changes(after: start, through: end) {
      let at = start + (change.at - start + step - 1) / step * step
      // Of several changes between two moments the last is seen.
      if seen.last?.at == at { seen.removeLast() }
      if at <= end, seen.last?.offset != change.offset { seen.append(ZoneChange(at: at, offset: change.offset)) }
    }
    return seen
  }
}

extension ZoneRules {
  /// All changes of a time.
  func changes(after start: Int64, through end: Int64) -> [ZoneChange] {
    var found: [ZoneChange] = []
    while let next = nextChange(after: found.last?.at ?? start), next.at <= end { found.append(next) }
    return found
  }
}
