/// What a database's schema consists of, as text that can be compared.
enum Catalog {
  /// Relations with their columns, options and rights; indexes, constraints, triggers, policies, functions, comments.
  static func dump(of database: TestDatabase) async throws -> String {
    var sections: [String] = []
    for part in parts { sections.append(try await database.sql(part)) }
    return sections.joined(separator: "\n\n")
  }

  private static let ours = "in ('public'::regnamespace, 'tacet'::regnamespace)"

  private static let parts = [
    "select nspname, nspacl, obj_description(oid) from pg_namespace where oid \(ours) order by 1",
    """
    select oid::regclass, relkind, relrowsecurity, relacl, reloptions, obj_description(oid) from pg_class
    where relnamespace \(ours) order by oid::regclass::text
    """,
    """
    select attrelid::regclass, attnum, attname, format_type(atttypid, atttypmod), attnotnull,
      pg_get_expr(adbin, adrelid), col_description(attrelid, attnum)
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid in (select oid from pg_class where relnamespace \(ours)) and attnum > 0
    order by attrelid::regclass::text, attnum
    """,
    "select indexdef from pg_indexes where schemaname in ('public', 'tacet') order by 1",
    "select conrelid::regclass, conname, pg_get_constraintdef(oid) from pg_constraint where connamespace \(ours) order by 1, 2",
    "select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal order by 1",
    "select * from pg_policies order by policyname",
    "select oid::regprocedure, proacl, pg_get_functiondef(oid) from pg_proc where pronamespace \(ours) order by oid::regprocedure::text",
  ]
}
