internal import Postgres

// Tables and columns of a host in SQL.

extension HostTable {
  var sql: String { "\(schema.quotedIdentifier).\(name.quotedIdentifier)" }
}

extension HostColumn {
  /// The column of a row as an id of Tacet's type.
  func id(_ row: String) -> String {
    let value = "\(row).\(name.quotedIdentifier)"
    switch type {
    case "int2", "int4": return "\(value)::bigint"
    case "varchar", "bpchar", "citext": return "\(value)::text"
    default: return value
    }
  }

  /// The column of a row beside an argument of Tacet's type, so that an index on the column serves. Only two types do not
  /// compare with text by their own indexes.
  func equals(_ argument: String, _ row: String) -> String {
    let value = "\(row).\(name.quotedIdentifier)"
    return ["bpchar", "citext"].contains(type) ? "\(value) = \(argument)::\(type)" : "\(value) = \(argument)"
  }

  /// The column of a row as a moment. A `timestamp` is taken for UTC, a number for seconds, milliseconds or microseconds since
  /// 1970: of a moment after 1973 only one of the three fits.
  func moment(_ row: String) -> String {
    let value = "\(row).\(name.quotedIdentifier)"
    switch type {
    case "timestamptz": return value
    case "timestamp": return "\(value) at time zone 'UTC'"
    default:
      return
        "to_timestamp(nullif(\(value), 0) / case when \(value) > 1e14 then 1e6 when \(value) > 1e11 then 1e3 else 1 end)"
    }
  }

  /// The column of a row as the time of a message. A `timestamp` may be of any zone, so it counts as the latest moment that it can
  /// be; null, so that the time of the insert counts, where that is not over.
  func birth(_ row: String) -> String {
    guard type == "timestamp" else { return moment(row) }
    return "nullif(least(\(moment(row)) + interval '13 hours', now()), now())"
  }

  /// What was before all moments, in the column's type.
  var beginning: String { type.hasPrefix("timestamp") ? "'-infinity'" : "0" }

  /// The column of a row as text. Of JSON the member that editors of rich text put the plain text into.
  func plainText(_ row: String) -> String {
    let value = "\(row).\(name.quotedIdentifier)"
    guard isJSON else { return type == "text" ? value : "\(value)::text" }
    return """
      case when \(type)_typeof(\(value)) = 'string' then \(value) #>> '{}'
        else coalesce(\(value) ->> 'text', \(value) ->> 'txt', \(value) ->> 'body') end
      """
  }
}
