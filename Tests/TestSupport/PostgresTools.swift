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
        let server = try ServerProcess.locate(
            "postgres", in: newestFirst.map { "\(root)/\($0)/bin" })
        folder = String(server.dropLast("/postgres".count))
        let setpriv = ["--reuid=postgres", "--regid=postgres", "--clear-groups"]
        prefix = getuid() == 0 ? [try ServerProcess.locate("setpriv")] + setpriv : []
    }

    func path(_ tool: String) -> String { folder + "/" + tool }

    func command(_ tool: String, _ arguments: [String]) -> [String] {
        prefix + [path(tool)] + arguments
    }

    /// A command line that runs as the user of the servers, with these variables alone and the
    /// server's programs first.
    func command(_ words: [String], environment: [String: String]) -> [String] {
        let all = environment.merging(["PATH": folder + ":/usr/bin:/bin", "LC_ALL": "C.UTF-8"]) {
            given, _ in given
        }
        return prefix + ["env", "-i"]
            + all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" } + words
    }

    /// The files of a server that has never run and trusts everybody: making them takes ten times
    /// as long as copying.
    private static let newCluster = Task {
        let tools = try PostgresTools()
        let folder = try TemporaryDirectory(in: TemporaryDirectory.short)
        try await tools.own(folder.path)
        try await tools.initialize(folder.path("data"))
        // Nothing that is kept for the whole process is ever released, so the shell removes it when
        // our pipe closes.
        let keeper = ["/bin/sh", "-c", "read -r word; rm -rf \"$0\"", folder.path]
        return (folder: folder, keeper: try ChildProcess.spawn(keeper, pipe: .input))
    }

    private func initialize(_ data: String) async throws {
        let arguments = [
            "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "--auth=trust",
        ]
        try await ChildProcess.run(command("initdb", ["-D", data] + arguments))
    }

    /// Makes the files of a new server in `folder/data`.
    ///
    /// - Parameters:
    ///   - folder: The folder of the server.
    ///   - password: What the server asks of everybody from its first start on; nil trusts all.
    ///   - isCopied: Whether it has the same system identifier as other servers of the tests.
    /// - Throws: ``TestSupportError`` with what the server's tools said.
    func makeCluster(in folder: TemporaryDirectory, password: String?, isCopied: Bool) async throws
    {
        try await own(folder.path)
        let data = folder.path("data")
        if isCopied {
            let original = try await Self.newCluster.value.folder.path("data")
            try await ChildProcess.run(prefix + ["cp", "-R", "-p", original, data])
        } else {
            try await initialize(data)
        }
        guard let password else { return }
        let order = try folder.write(
            Data("ALTER USER postgres PASSWORD '\(password)'\n".utf8), to: "password")
        let rules = "local all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n"
        for file in [order, try folder.write(Data(rules.utf8), to: "data/pg_hba.conf")] {
            try await own(file)
        }
        // A server without a network and without a log, which ends with its input.
        let server = [
            path("postgres"), "--single", "-D", data, "-c", "password_encryption=scram-sha-256",
            "postgres",
        ]
        try await ChildProcess.run(
            prefix + ["/bin/sh", "-c", "exec \"$@\" <\"$0\"", order] + server)
    }

    /// Makes `folder/data` a copy of a running server's, ready to follow it.
    func copy(port: UInt16, to folder: String) async throws {
        try await own(folder)
        try await ChildProcess.run(["rm", "-rf", folder + "/data"])
        let source = ["-d", "host=127.0.0.1 port=\(port) user=postgres"]
        let target = ["-D", folder + "/data", "-R", "-X", "stream", "-c", "fast", "--no-sync"]
        try await ChildProcess.run(command("pg_basebackup", source + target))
    }

    /// Gives a file to the user the server runs as.
    func own(_ path: String) async throws {
        if !prefix.isEmpty { try await ChildProcess.run(["chown", "postgres:postgres", path]) }
    }

    /// Makes a self-signed certificate for `localhost` and returns the
    /// settings that use it.
    func makeCertificate(in folder: TemporaryDirectory) async throws -> [String: String] {
        let key = folder.path("server.key")
        let certificate = folder.path("server.crt")
        var openssl = [
            try ServerProcess.locate("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes",
        ]
        openssl += [
            "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
        ]
        try await ChildProcess.run(prefix + openssl + ["-keyout", key, "-out", certificate])
        return ["ssl": "on", "ssl_key_file": key, "ssl_cert_file": certificate]
    }
}
