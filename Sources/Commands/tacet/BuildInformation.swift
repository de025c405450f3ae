/// What this executable is.
enum BuildInformation {
  /// The version of the service and of its interface, as `openapi.yaml` has it.
  static let version = "0.1.0"
}
