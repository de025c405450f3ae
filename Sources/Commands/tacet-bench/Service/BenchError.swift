/// Why a run has no figures; the text is for whoever reads the output.
struct BenchError: Error, CustomStringConvertible, Equatable {
  let description: String

  init(_ description: String) { self.description = description }
}
