import Foundation

/// The programs of an installed PostgreSQL server.
struct PostgresTools: Sendable {
    private let folder: String
    /// What runs a program as the user `postgres` when the tests run as root.
    private let prefix: [String]

    init() throws {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let newestFirst = versions.sorted { (Double($0) ?? 0) > (Double($1) ?? 0) }
        let server = try ServerProcess.locate("postgres", in: newestFirst.map { "\(root)/\($0)/bin" })
        folder = String(server.dropLast("/postgres".count))
        let setpriv = ["--reuid=postgres", "--regid=postgres", "--clear-groups"]
        prefix = getuid() == 0 ? [try ServerProcess.locate("setpriv")] + setpriv : []
    }

    func path(_ tool: String) -> String { folder + "/" + tool }

    func command(_ tool: String, _ arguments: [String]) -> [String] { prefix + [path(tool)] + arguments }

    /// Makes the files of a new server in `folder/data`.
    func makeCluster(in folder: TemporaryDirectory, password: String?) async throws {
        try await own(folder.path)
        var arguments = ["-D", folder.path("data"), "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        if let password {
            let file = try folder.write(Data(password.utf8), to: "password")
            try await own(file)
            arguments += ["--auth=scram-sha-256", "--pwfile=\(file)"]
        } else {
            arguments += ["--auth=trust"]
        }
        try await ChildProcess.run(command("initdb", arguments))
    }

    /// Gives a file to the user the server runs as.
    func own(_ path: String) async throws {
        if !prefix.isEmpty { try await ChildProcess.run(["chown", "postgres:postgres", path]) }
    }

    /// Makes a self-signed certificate for `localhost` and returns the
    /// settings that use it.
    func makeCertificate(in folder: TemporaryDirectory) async throws -> [String: String] {
        let (key, certificate) = (folder.path("server.key"), folder.path("server.crt"))
        var openssl = [try ServerProcess.locate("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes"]
        openssl += ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        try await ChildProcess.run(prefix + openssl + ["-keyout", key, "-out", certificate])
        return ["ssl": "on", "ssl_key_file": key, "ssl_cert_file": certificate]
    }
}
