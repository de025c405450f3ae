internal import COpenSSL
internal import Cryptography
internal import Glibc

// Whom a client's context trusts.
extension TLSContext {
  /// Trusts the system's authorities.
  ///
  /// A folder of them under the hashes of their names, as Debian and others keep it, is looked into when a chain needs an
  /// authority. Elsewhere, and where the variable `SSL_CERT_FILE` names a file, all of them are loaded now.
  func trustSystem() throws(TLSError) {
    let folder = getenv(X509_get_default_cert_dir_env()) ?? UnsafeMutablePointer(mutating: X509_get_default_cert_dir())
    if let folder, getenv(X509_get_default_cert_file_env()) == nil, Self.isHashed(String(cString: folder)) {
      return try trust(folder: String(cString: folder))
    }
    guard SSL_CTX_set_default_verify_paths(handle) == 1 else {
      throw ErrorQueue.configurationError("the system's trust store")
    }
  }

  /// Trusts the authorities in a folder, each in a file `HASH.NUMBER`.
  func trust(folder: String) throws(TLSError) {
    ErrorQueue.clear()
    guard SSL_CTX_load_verify_dir(handle, folder) == 1 else {
      throw ErrorQueue.configurationError("trust in \(folder)")
    }
  }

  func addTrust(_ pem: PEM) throws(TLSError) {
    let certificates = try pem.certificates()
    defer { certificates.forEach { X509_free($0) } }
    let store = SSL_CTX_get_cert_store(handle)
    for certificate in certificates where X509_STORE_add_cert(store, certificate) != 1 {
      throw ErrorQueue.configurationError("trust in \(pem.origin)")
    }
  }

  /// Whether a folder has a file named like the hash of an authority's name: eight hexadecimal digits, and `.0`.
  static func isHashed(_ folder: String) -> Bool {
    guard let entries = opendir(folder) else { return false }
    defer { closedir(entries) }
    while let entry = readdir(entries) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name.count == 10, name.suffix(2).elementsEqual(".0".utf8), name.prefix(8).allSatisfy(\.isHexadecimalDigit) {
        return true
      }
    }
    return false
  }
}

extension UInt8 {
  fileprivate var isHexadecimalDigit: Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
  }
}
