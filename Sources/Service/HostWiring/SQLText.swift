/// Names and texts of a catalog inside SQL. A name may hold anything but a zero byte.
extension String {
  /// As `format('%I')` writes it: bare where that is the same name, otherwise in double quotes, which are doubled inside.
  var quotedIdentifier: String {
    let isBare =
      !isEmpty && allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "_") } && first?.isNumber == false
      && !Self.keywords.contains(self)
    return isBare ? self : "\"\(replacing("\"", with: "\"\""))\""
  }

  /// As `format('%L')` writes it.
  var quotedLiteral: String {
    let quoted = "'\(replacing("'", with: "''"))'"
    return contains("\\") ? "E\(quoted.replacing("\\", with: "\\\\"))" : quoted
  }

  /// Between dollar signs, with a word that the text does not have.
  var dollarQuoted: String {
    var tag = "$$"
    var number = 0
    while contains(tag) {
      number += 1
      tag = "$body\(number)$"
    }
    return "\(tag)\n\(self)\n\(tag)"
  }

  /// On one line, for a comment: a name with a line break would end it.
  var onOneLine: String { String(unicodeScalars.map { $0.value < 32 || $0.value == 127 ? " " : Character($0) }) }

  /// Words that PostgreSQL reserves wholly or in part, or that could be read as something else in an expression. Quoting one
  /// too many does no harm.
  private static let keywords: Set<String> = [
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "authorization", "between", "bigint",
    "binary", "bit", "boolean", "both", "case", "cast", "char", "character", "check", "coalesce", "collate",
    "collation",
    "column", "concurrently", "constraint", "create", "cross", "current_catalog", "current_date", "current_role",
    "current_schema", "current_time", "current_timestamp", "current_user", "dec", "decimal", "default", "deferrable",
    "desc",
    "distinct", "do", "else", "end", "except", "exists", "extract", "false", "fetch", "float", "for", "foreign",
    "freeze",
    "from", "full", "grant", "greatest", "group", "grouping", "having", "ilike", "in", "initially", "inner", "inout",
    "int",
    "integer", "intersect", "interval", "into", "is", "isnull", "join", "lateral", "leading", "least", "left", "like",
    "limit",
    "localtime", "localtimestamp", "national", "natural", "nchar", "none", "normalize", "not", "notnull", "null",
    "nullif",
    "numeric", "offset", "on", "only", "or", "order", "out", "outer", "overlaps", "overlay", "placing", "position",
    "precision", "primary", "real", "references", "returning", "right", "row", "select", "session_user", "setof",
    "similar",
    "smallint", "some", "substring", "symmetric", "system_user", "table", "tablesample", "then", "time", "timestamp",
    "to",
    "trailing", "treat", "trim", "true", "union", "unique", "user", "using", "values", "varchar", "variadic", "verbose",
    "when", "where", "window", "with", "xmlattributes", "xmlconcat", "xmlelement", "xmlexists", "xmlforest",
    "xmlnamespaces", "xmlparse", "xmlpi", "xmlroot", "xmlserialize", "xmltable",
  ]
}

extension HostTable {
  /// The name in SQL, with its schema.
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
