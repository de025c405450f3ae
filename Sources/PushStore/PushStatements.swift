/// Every SQL statement the service runs against its own tables and the host contract; nothing else writes SQL.
///
/// They are prepared once per connection, under these names.
enum PushStatements {}
