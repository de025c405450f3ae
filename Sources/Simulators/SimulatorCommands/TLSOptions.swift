package import ArgumentParser

/// What the listeners prove themselves with.
package struct TLSOptions: ParsableArguments {
  @Option(help: "A PEM file with the server's certificate and its intermediates; else a private authority is made.")
  var certificate: String?

  @Option(help: "A PEM file with the certificate's key.")
  var privateKey: String?

  @Option(help: "A file to write the private authority's certificate into, for clients to trust.")
  package var caOut: String?

  package init() {}

  /// Refuses what does not belong together.
  package func validate() throws {
    guard (certificate == nil) == (privateKey == nil) else {
      throw ValidationError("--certificate and --private-key belong together")
    }
    guard certificate == nil || caOut == nil else {
      throw ValidationError("--ca-out is for the private authority, which --certificate replaces")
    }
  }

  /// The certificate and its key as PEM text; nil for a private authority.
  package func files() throws(TextFileError) -> (certificate: String, key: String)? {
    guard let certificate, let privateKey else { return nil }
    return (try TextFile.read(certificate), try TextFile.read(privateKey))
  }
}
