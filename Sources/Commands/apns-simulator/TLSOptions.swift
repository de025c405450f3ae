import APNSSimulation
import ArgumentParser
import SimulatorCommands

/// What the listeners prove themselves with.
struct TLSOptions: ParsableArguments {
  @Option(help: "A PEM file with the server's certificate and its intermediates; else a private authority is made.")
  var certificate: String?

  @Option(help: "A PEM file with the certificate's key.")
  var privateKey: String?

  @Option(help: "A file to write the private authority's certificate into, for clients to trust.")
  var caOut: String?

  func validate() throws {
    guard (certificate == nil) == (privateKey == nil) else {
      throw ValidationError("--certificate and --private-key belong together")
    }
    guard certificate == nil || caOut == nil else {
      throw ValidationError("--ca-out is for the private authority, which --certificate replaces")
    }
  }

  func identity() throws -> APNSSimulatorConfiguration.Identity {
    guard let certificate, let privateKey else { return .privateAuthority }
    return .pem(certificate: try TextFile.read(certificate), key: try TextFile.read(privateKey))
  }
}
